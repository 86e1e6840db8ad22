"""The table of kafka-transactions.sh describe: as the tool prints it (ToolsUtils of 4.1.2), and as people paste it."""

import json

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.pages.part import PartKind
from kafkatx.text.pages.parts import parts
from kafkatx.text.printed.listed_objects import LISTED, object_cells
from kafkatx.text.tools.admin import described_states, told_by_admins
from kafkatx.text.tools.tables import object_rows
from tests.text.dump.comparing import whole

LIST = (
    "TransactionalId\tCoordinator\tProducerId\tTransactionState\t",
    "orders-eu-1    \t1          \t1000      \tOngoing         \t",
)
DESCRIBE = (
    "CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\t"
    "CurrentTransactionStartTimeMs\tTransactionDurationMs\tTopicPartitions  \t",
    "1            \torders-eu-1    \t1000      \t3            \tOngoing         \t60000               \t"
    "1795257880396                \t12345                \torders-0,orders-1\t",
    "1            \torders eu 2    \t1001      \t0            \tEmpty           \t60000               \t"
    "None                         \tNone                 \t                 \t",
)


@pytest.fixture
def read(tmp_path):
    def reader(*lines: str):
        path = tmp_path / "page.txt"
        path.write_text("\n".join(lines) + "\n")
        with OpenFile(str(path)) as file:
            return list(described_states(file, whole(file)))

    return reader


def test_ids_that_were_described(read):
    (first, line, position), (second, *_) = read(*DESCRIBE)
    assert (line, position) == (2, len(DESCRIBE[0]) + 1)
    assert (first.transactional_id, first.producer_id, first.producer_epoch) == ("orders-eu-1", 1000, 3)
    assert (first.state, first.timeout_ms, first.started_at) == (TransactionState.Ongoing, 60_000, 1795257880396)
    assert first.partitions == (("orders", 0), ("orders", 1))
    assert (second.transactional_id, second.started_at, second.partitions) == ("orders eu 2", -1, ())


PASTES = {
    "blanks": lambda line: line.replace("\t", " "),
    "quoted": lambda line: "> " + line.replace("\t", "  "),
    "one blank": lambda line: " ".join(line.split()),
    "indented": lambda line: "    " + line,
}


@pytest.mark.parametrize("paste", PASTES)
def test_tables_as_people_paste_them(paste, read):
    plain, pasted = read(*DESCRIBE), read(*map(PASTES[paste], DESCRIBE))
    assert len(plain) == 2
    assert [found[:2] for found in pasted] == [found[:2] for found in plain]


def test_a_table_ends_with_the_first_line_that_is_no_row_of_it(read):
    assert len(read(*DESCRIBE[:2], "$ next command", DESCRIBE[2])) == 1
    assert len(read(*DESCRIBE, "", *LIST, "", *DESCRIBE)) == 4


def test_tables_of_other_subcommands_are_not_read(read):
    assert read(*LIST, DESCRIBE[1]) == []


@pytest.mark.parametrize("line", ["1\tx\t7\t0\tOngoing", DESCRIBE[1] + "more", "a 1", "9" * 100_000, " " * 100_000])
def test_other_lines_are_no_rows(line, read):
    assert read(DESCRIBE[0], line) == []


RPK = (
    "COORDINATOR  TRANSACTIONAL-ID  PRODUCER-ID  STATE",
    "0            fee-1             41002        PrepareCommit",
    "0            fee-2             41003        Ongoing",
)


@pytest.mark.parametrize(
    "lines",
    [
        LIST,
        ("TransactionalId TransactionState", "orders-eu-1 Ongoing"),
        ("orders-eu-1\t1\t1000\tOngoing",),
        ("COORDINATOR  TRANSACTIONAL-ID  PRODUCER-ID  STATE", "1  orders-eu-1  1000  Ongoing"),
    ],
    ids=["list", "columns cut out", "no heading", "rpk"],
)
def test_ids_that_were_listed(lines, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text("\n".join((*lines, "")))
    with OpenFile(str(path)) as file:
        ((state, line, _),) = told_by_admins(file, whole(file))
    assert (state.transactional_id, state.state, line) == ("orders-eu-1", TransactionState.Ongoing, len(lines))
    assert (state.started_at, state.producer_id) in ((-1, 1000), (-1, -1))


KCL_LIST = (
    "BROKER  TRANSACTIONAL-ID  PRODUCER-ID  STATE          ERROR",
    "1       fee-1             41002        PrepareCommit  ",
    "2       fee 2             41003        Ongoing",
    "3                                                     BROKER_NOT_AVAILABLE: The broker is not available.",
)
KCL_DESCRIBE = (
    "TRANSACTIONAL-ID  STATE    PRODUCER-ID  PRODUCER-EPOCH  TIMEOUT-MS  START-TIMESTAMP          TOPICS              "
    "          ERROR",
    "fee-1             Ongoing  41002        7               60000       2024-03-01 10:00:01.5    orders[0 2], "
    "payments[11]  ",
    "fee-2             Empty    41003        0               30000       1969-12-31 23:59:59.999                      "
    "            ",
    "fee-3                                                                                                           "
    "          TRANSACTIONAL_ID_NOT_FOUND: The transactionalId could not be found",
)


@pytest.mark.parametrize("paste", [str, "    {}".format, "> {}".format, str.rstrip])
def test_ids_that_kcl_listed_with_blanks_in_them_and_brokers_that_failed(paste, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text("".join(f"{paste(line)}\n" for line in KCL_LIST))
    with OpenFile(str(path)) as file:
        found = [
            (state.transactional_id, state.producer_id, state.state) for state, *_ in told_by_admins(file, whole(file))
        ]
    assert found == [("fee-1", 41002, TransactionState.PrepareCommit), ("fee 2", 41003, TransactionState.Ongoing)]


@pytest.mark.parametrize("paste", [str, "    {}".format, str.rstrip])
def test_ids_that_kcl_described(paste, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text("".join(f"{paste(line)}\n" for line in KCL_DESCRIBE))
    with OpenFile(str(path)) as file:
        (open_one, _, _), (empty, _, _) = told_by_admins(file, whole(file))
    assert (open_one.transactional_id, open_one.producer_id, open_one.producer_epoch) == ("fee-1", 41002, 7)
    assert (open_one.timeout_ms, open_one.started_at) == (60_000, 1709287201500)
    assert open_one.partitions == (("orders", 0), ("orders", 2), ("payments", 11))
    assert (empty.transactional_id, empty.state, empty.started_at) == ("fee-2", TransactionState.Empty, -1)
    assert empty.partitions is None


KCL_JSON = """\
{
  "_command": "txn.describe",
  "_version": 1,
  "transactions": [
    {
      "error": "",
      "producer_epoch": 7,
      "producer_id": 41002,
      "start_timestamp": "2024-03-01 10:00:01.5",
      "state": "Ongoing",
      "timeout_ms": 60000,
      "topics": "orders[0 2], payments[11]",
      "transactional_id": "fee-1"
    },
    {
      "error": "TRANSACTIONAL_ID_NOT_FOUND: The transactionalId could not be found",
      "producer_epoch": "",
      "producer_id": "",
      "start_timestamp": "",
      "state": "",
      "timeout_ms": "",
      "topics": "",
      "transactional_id": "fee-3"
    }
  ]
}
"""
RPK_JSON = (
    '[{"coordinator":1,"transactional_id":"fee-1","producer_id":41002,"producer_epoch":7,"state":"Ongoing",'
    '"start_timestamp":"1709287201500","timeout":60000,"topic":"orders","partition":0},'
    '{"coordinator":1,"transactional_id":"fee-1","producer_id":41002,"producer_epoch":7,"state":"Ongoing",'
    '"start_timestamp":"1709287201500","timeout":60000,"topic":"orders","partition":2},'
    '{"coordinator":1,"transactional_id":"fee-1","producer_id":41002,"producer_epoch":7,"state":"Ongoing",'
    '"start_timestamp":"1709287201500","timeout":60000,"topic":"payments","partition":11}]\n'
)


def indented(text):
    """A list as jq prints it, with prose around it."""
    return f"It stands like this:\n\n{json.dumps(json.loads(text), indent=2)}\n\nWhat now?\n"


@pytest.mark.parametrize("text", [KCL_JSON, RPK_JSON, indented(KCL_JSON), indented(RPK_JSON)])
def test_an_id_that_is_described_in_json_with_all_its_partitions(text, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(text)
    with OpenFile(str(path)) as file:
        (part,) = [part for part in parts(file) if part.kind is PartKind.ADMIN_TRANSACTIONS]
        ((state, _, _),) = told_by_admins(file, part)
    assert (state.transactional_id, state.producer_id, state.producer_epoch) == ("fee-1", 41002, 7)
    assert (state.timeout_ms, state.started_at) == (60_000, 1709287201500)
    assert state.partitions == (("orders", 0), ("orders", 2), ("payments", 11))


@pytest.mark.parametrize(
    "text",
    [
        '{"level": "info", "msg": "ready", "transactional_id": "fee-1", "producer_id": 4, "state": "Ongoing"}',
        '[{"transactional_id": "fee-1", "producer_id": 4}]',
        '[{"transactional_id": "fee-1", "producer_id": 4, "state": "Ongoing"},',
    ],
)
def test_a_record_of_a_log_a_part_of_an_object_and_one_cut_off_are_no_list(text, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(f"{text}\n")
    with OpenFile(str(path)) as file:
        assert not object_cells(text)[1:]
        assert not list(object_rows(file, whole(file), LISTED))


@pytest.mark.parametrize("row", ["fee-1 Ongoing 41002 7 60000", "-" * 120, "the ids above are those of the job", ""])
def test_lines_that_do_not_stand_in_the_columns_of_kcl_are_no_rows(row, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(f"{KCL_DESCRIBE[0]}\n{row}\n")
    with OpenFile(str(path)) as file:
        assert not list(told_by_admins(file, whole(file)))


def test_several_ids_of_rpk(tmp_path):
    path = tmp_path / "page.txt"
    path.write_text("\n".join((*RPK, "")))
    with OpenFile(str(path)) as file:
        found = [
            (state.transactional_id, state.producer_id, state.state) for state, *_ in told_by_admins(file, whole(file))
        ]
    assert found == [("fee-1", 41002, TransactionState.PrepareCommit), ("fee-2", 41003, TransactionState.Ongoing)]


def test_an_answer_is_as_old_as_its_transaction_has_lasted(read):
    assert [state.asked_at for state, *_ in read(*DESCRIBE)] == [1795257880396 + 12345, -1]
