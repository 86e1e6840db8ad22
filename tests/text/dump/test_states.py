"""States of transactional.ids as decoders of all eras print them, with ids and partitions that make it hard."""

import pytest

from kafkatx.kernels.rows import NOT_PRINTED
from kafkatx.segments.names import Names
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.dump.printed_sets import Unreadable, partitions_of
from kafkatx.text.dump.states import state_of, state_of_message
from tests.text.dump.comparing import states_of_text

VALUE = "producerId:{},producerEpoch:{},state={},partitions={},txnLastUpdateTimestamp={},txnTimeoutMs=60000"
IDS = (
    "orders-1",
    "a, b",
    "x::y",
    " payload: producerId:9,producerEpoch:9,state=Ongoing,partitions=[],txnLastUpdateTimestamp=1,txnTimeoutMs=1",
    "transactionalId=",
    "[brackets](and)Set(a-0)",
    "schl\u00fcssel \u65e5\u672c",
    " ",
)


def printed(transactional_id: str, value: str, prefix: str = "transaction_metadata::") -> tuple[str, int]:
    """Contents as printed, and the size of the key."""
    return f" key: {prefix}transactionalId={transactional_id} payload: {value}", len(transactional_id.encode()) + 4


@pytest.mark.parametrize("transactional_id", IDS)
@pytest.mark.parametrize("prefix", ["", "transaction_metadata::"])
def test_an_id_ends_where_the_size_of_its_key_says(transactional_id, prefix):
    for value in (VALUE.format(7, 2, "Ongoing", "[t-0]", 5), "<DELETE>"):
        state = state_of(*printed(transactional_id, value, prefix))
        assert state.transactional_id == transactional_id
        assert state.is_tombstone == (value == "<DELETE>")


def test_an_id_without_the_size_of_its_key_ends_before_the_last_payload():
    contents, _ = printed("x payload: y", VALUE.format(7, 2, "Ongoing", "[t-0]", 5))
    assert state_of(contents, -2).transactional_id == "x payload: y"
    assert state_of(" key: transactionalId=a payload: <DELETE>", -2).is_tombstone


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Set()", ()),
        ("HashSet()", ()),
        ("[]", ()),
        ("Set(b-1, b-0)", (("b", 1), ("b", 0))),
        ("HashSet(my-topic-3-12)", (("my-topic-3", 12),)),
        ("[t.x-0,__consumer_offsets-49]", (("t.x", 0), ("__consumer_offsets", 49))),
        ("Set(a-0, b-1, c-2, d-3, e-4)", (("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 4))),
        ("HashTrieSet(a-0)", (("a", 0),)),
        ("ListSet(0-0)", (("0", 0),)),
    ],
)
def test_partitions_of_every_era(text, pairs):
    assert partitions_of(text) == pairs


@pytest.mark.parametrize("text", ["[t]", "Set(a-0, ...)", "[a-0,b]", "[a-x]"])
def test_partitions_that_are_not_all_there_are_no_partitions(text):
    with pytest.raises(Unreadable):
        partitions_of(text)


def test_the_list_of_an_empty_state_is_null_and_any_other_a_list():
    for state in TransactionState:
        found = state_of(*printed("a", VALUE.format(1, 0, state.name, "Set()", 5)))
        assert found.partitions == (None if state is TransactionState.Empty else ())


def test_json_says_tags_that_are_there_and_their_defaults():
    key = ' key: {"type":"0","data":{"transactionalId":"a \\"b\\" payload: {}"}} payload: '
    data = (
        '"producerId":5,"producerEpoch":3,"transactionTimeoutMs":60000,"transactionStatus":2,"transactionPartitions":'
        '[{"topic":"t","partitionIds":[1,0]}],"transactionLastUpdateTimestampMs":9,"transactionStartTimestampMs":8'
    )
    plain = state_of(f'{key}{{"version":"1","data":{{{data}}}}}', 20)
    assert (plain.transactional_id, plain.started_at, plain.partitions) == (
        'a "b" payload: {}',
        8,
        (("t", 1), ("t", 0)),
    )
    assert (plain.client_transaction_version, plain.previous_producer_id, plain.next_producer_id) == (0, -1, -1)
    assert state_of(f'{key}{{"version":"0","data":{{{data}}}}}', 20).client_transaction_version == -1
    tagged = state_of(f'{key}{{"version":"1","data":{{{data},"clientTransactionVersion":2,"nextProducerId":6}}}}', 20)
    assert (tagged.client_transaction_version, tagged.next_producer_id) == (2, 6)
    assert state_of(f"{key}<DELETE>", 20).is_tombstone


@pytest.mark.parametrize(
    "contents",
    [
        " key: unknown::version=9",
        " key: Unknown record type 9 at offset 3, skipping.",
        " key: transactionalId=a payload: producerId:1",
        " key: transactionalId=a payload: " + VALUE.format(1, 0, "Nonsense", "[]", 5),
        ' key: {"type":"9","data":{"transactionalId":"a"}} payload: <DELETE>',
        ' key: {"type":"0","data":{"transactionalId":null}} payload: <DELETE>',
        ' key: {"type":"0","data":{"transactionalId":"a"}} payload: {"version":"0"}',
        ' key: {"type":"0","data":{"transactionalId":"a"}} payload: [1]',
        ' key: {"type":"0","data":[]} payload: <DELETE>',
        " key: " + "[" * 100_000,
        ' key: {"type":' + "[" * 100_000,
    ],
)
def test_what_is_no_state_is_unreadable(contents):
    with pytest.raises(Unreadable):
        state_of(contents, -2)


RECORD = "| offset: {} CreateTime: 1 keysize: 5 valuesize: 9 sequence: -1 headerKeys: [] key: transaction_metadata::"
HEADER = (
    "baseOffset: {0} lastOffset: {0} count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: 4 isTransactional: false isControl: false position: {1} CreateTime: 1 size: 100 magic: 2 "
    "compresscodec: NONE crc: 77 isvalid: true"
)


def text_of(*steps: tuple[int, str, str, int], partitions: str = "[t-0,t-1]") -> str:
    """Lines of (offset, id, state or tombstone, time)."""
    lines = []
    for number, (offset, name, state, at) in enumerate(steps):
        value = "<DELETE>" if state == "<DELETE>" else VALUE.format(1, 0, state, partitions, at)
        lines += [
            HEADER.format(offset, number * 100),
            f"{RECORD.format(offset)}transactionalId={name} payload: {value}",
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def starts(tmp_path):
    def reader(*steps):
        path = tmp_path / "states.txt"
        path.write_text(text_of(*steps))
        rows = states_of_text(path, Names())
        return [
            (start if known else None)
            for start, known in zip(rows.rows["started_at"].tolist(), rows.knows("started_at").tolist(), strict=True)
        ]

    return reader


def test_a_transaction_starts_with_its_first_ongoing_row(starts):
    assert starts((0, "a", "Empty", 5), (1, "a", "Ongoing", 7), (2, "a", "Ongoing", 8), (3, "a", "PrepareCommit", 9),
                  (4, "a", "CompleteCommit", 10), (5, "a", "Ongoing", 20)) == [-1, 7, 7, 7, 7, 20]  # fmt: skip


def test_ids_do_not_lend_each_other_their_starts(starts):
    assert starts((0, "a", "Empty", 5), (1, "b", "Empty", 6), (2, "b", "Ongoing", 7), (3, "a", "Ongoing", 8),
                  (4, "b", "PrepareAbort", 9)) == [-1, -1, 7, 8, 7]  # fmt: skip


def test_a_start_that_is_not_in_the_text_is_unknown(starts):
    assert starts((4, "a", "Ongoing", 8), (5, "a", "PrepareCommit", 9), (6, "a", "CompleteCommit", 9)) == [None] * 3


def test_a_start_after_rows_that_are_missing_is_unknown(starts):
    assert starts((0, "a", "Empty", 5), (3, "a", "Ongoing", 8), (4, "a", "PrepareCommit", 9)) == [-1, None, None]
    assert starts((0, "a", "CompleteCommit", 5), (1, "a", "Ongoing", 8), (3, "a", "PrepareCommit", 9)) == [
        None,
        8,
        None,
    ]


def test_a_row_that_lists_one_partition_is_the_first_of_its_transaction(tmp_path):
    path = tmp_path / "states.txt"
    path.write_text(text_of((4, "a", "Ongoing", 8), (5, "a", "PrepareCommit", 9), partitions="[t-0]"))
    assert states_of_text(path, Names()).rows["started_at"].tolist() == [8, 8]


def test_an_unknown_start_is_marked_so_in_the_row(tmp_path):
    path = tmp_path / "states.txt"
    path.write_text(text_of((4, "a", "Ongoing", 8)))
    assert states_of_text(path, Names()).rows["started_at"].tolist() == [NOT_PRINTED]


def test_an_id_that_holds_ends_of_lines_is_put_together(tmp_path):
    name = "a\n| offset: 1 CreateTime: 1\n"
    contents, size = printed(name, VALUE.format(7, 2, "Ongoing", "[t-0]", 5))
    record = RECORD.format(0).replace("keysize: 5", f"keysize: {size}").partition(" key: ")[0]
    path, names = tmp_path / "states.txt", Names()
    path.write_text(f"{HEADER.format(0, 0)}\n{record}{contents}\n{text_of((1, 'b', 'Empty', 1))}")
    rows = states_of_text(path, names)
    assert [names.transactional_id(int(code)) for code in rows.rows["id_code"]] == [name, "b"]
    assert rows.rows["leader_epoch"].tolist() == [4, 4]
    assert rows.rows["crc"].tolist() == [77, 77]


def test_numbers_that_no_state_can_have_are_damage(tmp_path):
    path = tmp_path / "states.txt"
    path.write_text(text_of((0, "a", "Ongoing", 8)).replace("producerEpoch:0", "producerEpoch:70000"))
    rows = states_of_text(path, Names())
    assert (len(rows), [damage.kind for damage in rows.damage]) == (0, ["entry"])


def test_a_record_without_its_batch_has_no_crc_of_it(tmp_path):
    page = tmp_path / "00000000000000000000.log.txt"
    page.write_text(
        "Dumping /d/__transaction_state-0/00000000000000000000.log\nStarting offset: 0\n"
        "| offset: 10 isValid: true crc: null keySize: 8 valueSize: 37 CreateTime: 5 baseOffset: 10 lastOffset: 10 "
        f"sequence: -1 headerKeys: [] key: transactionalId=pay1 payload: {VALUE.format(7, 2, 'Empty', '[]', 5)}\n"
    )
    rows = states_of_text(page, Names())
    assert len(rows) == 1
    assert not rows.knows("crc").any()


def test_a_state_by_its_name_is_that_by_its_number():
    data = {
        "producerId": 4, "producerEpoch": 1, "transactionTimeoutMs": 60_000, "transactionPartitions": None,
        "transactionLastUpdateTimestampMs": 7, "transactionStartTimestampMs": -1,
    }  # fmt: skip
    number, name = (
        state_of_message("pay", {"version": "1", "data": {**data, "transactionStatus": status}})
        for status in ("4", "CompleteCommit")
    )
    assert number == name
    with pytest.raises(ValueError, match="Running"):
        state_of_message("pay", {"version": "1", "data": {**data, "transactionStatus": "Running"}})
