"""Lines of tools out of what pasting made of them."""

import re
from pathlib import Path

import pytest

from kafkatx.text.printed.line_kinds import ToolLineKind
from kafkatx.text.printed.pasted import as_printed
from tests.text import pasting

BATCH = (
    "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 0 lastSequence: 1 producerId: 1 producerEpoch: 0 "
    "partitionLeaderEpoch: 0 isTransactional: true isControl: false deleteHorizonMs: OptionalLong.empty position: 0 "
    "CreateTime: 1795256984970 size: 225 magic: 2 compresscodec: none crc: 306846742 isvalid: true"
)
RECORD = (
    "| offset: 0 CreateTime: 1795256984939 keySize: 3 valueSize: 20 sequence: 0 headerKeys: [a b,c] "
    'key: k_0 payload: {"n":0, "b":"*\\_x*"}'
)
FLAT = (
    "offset: 1 position: 117 CreateTime: 1795257792540 isvalid: true keysize: 4 valuesize: 6 magic: 2 "
    "compresscodec: NONE producerId: 5 producerEpoch: 0 sequence: -1 isTransactional: true headerKeys: [] "
    "endTxnMarker: ABORT coordinatorEpoch: 0"
)
LINES = {
    "Dumping /var/lib/kafka/data/__transaction_state-0/00000000000000000000.log": ToolLineKind.DUMPING,
    "Starting offset: 0": ToolLineKind.START,
    "Log starting offset: 17": ToolLineKind.START,
    BATCH: ToolLineKind.BATCH,
    RECORD: ToolLineKind.RECORD,
    FLAT: ToolLineKind.RECORD,
    "offset: 0 position: 0 NoTimestampType: -1 isvalid: true size: 91 magic: 0 compresscodec: NONE crc: 1": (
        ToolLineKind.BATCH
    ),
    "offset: 33 position: 4183": ToolLineKind.INDEX,
    "timestamp: 1795257792540 offset: 7": ToolLineKind.TIMEINDEX,
    "version: 0 producerId: 1 firstOffset: 3 lastOffset: 6 lastStableOffset: 7": ToolLineKind.TXNINDEX,
    "producerId: 2 producerEpoch: 0 coordinatorEpoch: -1 currentTxnFirstOffset: Some(0)": ToolLineKind.SNAPSHOT,
    "t 1::TransactionMetadata(transactionalId=t 1, producerId=1, producerEpoch=0)": ToolLineKind.STATE,
    '{"key":{"version":0,"data":{"transactionalId":"t"}},"value":null}{"key":{}}': ToolLineKind.STATE,
    "[g,orders,0]::OffsetAndMetadata(offset=5, metadata=)": ToolLineKind.OFFSET,
    "CreateTime:1795257792540\tPartition:0\tOffset:5\tk\tv": ToolLineKind.CONSUMED,
    "TransactionalId\tCoordinator\tProducerId\tTransactionState": ToolLineKind.ADMIN,
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_as_the_tool_prints_it_stays_as_it_is(line: str) -> None:
    found = as_printed(line)
    assert found is not None
    assert (found.kind, found.text, found.is_elided) == (LINES[line], line, False)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("prefix", pasting.PREFIXES.values(), ids=list(pasting.PREFIXES))
def test_what_stands_before_a_line_is_taken_off(line: str, prefix: str) -> None:
    found = as_printed(prefix + line)
    assert found is not None
    assert (found.kind, found.text) == (LINES[line], line)


@pytest.mark.parametrize(
    "prefix",
    [
        "$ ", "[kafka@broker-1 data]$ ", "kafka@broker-1:~$ ", "PS C:\\kafka\\bin> ", "C:\\kafka>", "bash-4.2$ ", "12:",
        "12-", "/var/tmp/dump_1.txt:12:", "dump.txt-12-", "  12  ", "12: ", "1. ", "(3) ", "| ", "\u200b", "\u00a0",
        "\x1b[32m", "<br>", "<li>", "` ", "» ", "• ", "-- ", ";; ", "/* ", "> > * ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("line", [BATCH, RECORD, FLAT])
def test_prompts_numbers_and_signs_are_taken_off(line: str, prefix: str) -> None:
    found = as_printed(prefix + line)
    assert found is not None
    assert found.text == line


@pytest.mark.parametrize("line", [BATCH, FLAT])
@pytest.mark.parametrize(
    "change", [pasting.in_a_table, pasting.in_backquotes, pasting.in_bold, pasting.with_hard_blanks, pasting.escaped]
)
def test_what_stands_around_a_line_is_taken_off(line: str, change: pasting.Pasting) -> None:
    found = as_printed(change([line])[0])
    assert found is not None
    assert found.text == line


@pytest.mark.parametrize("path", pasting.dumps(".log", 30), ids=lambda path: "/".join(path.parts[-5:]))
def test_recorded_lines_come_back_out_of_escapes_tables_and_bold_print(path: Path) -> None:
    for line in [line for line in pasting.printed(path) if as_printed(line)][:12]:
        for change in (pasting.escaped, pasting.in_a_table, pasting.in_bold, pasting.prefixed("> ")):
            found = as_printed(change([line])[0])
            assert found is not None
            assert found.text.rstrip() == line.rstrip()


def test_content_keeps_its_characters_where_the_line_is_a_tool_s_as_it_stands() -> None:
    content = "a \u201cquoted\u201d &gt; \\_b\u00a0c **d** `e`"
    found = as_printed(
        "> | offset: 0 CreateTime: 1 keySize: 3 valueSize: 2 sequence: 0 headerKeys: [] payload: " + content
    )
    assert found is not None
    assert found.text.endswith("payload: " + content)


@pytest.mark.parametrize(
    ("pasted", "meant"),
    [
        (
            "Dumping /x/\\_\\_transaction\\_state-0/00000000000000000000.log",
            "Dumping /x/__transaction_state-0/00000000000000000000.log",
        ),
        (
            "| offset: 1 CreateTime: 2 keysize: 3 valuesize: 4 sequence: -1 headerKeys: [] "
            "key: transaction\\_metadata::transactionalId=a\\_b payload: producerId:1,producerEpoch:0,p=\\[t-0\\]",
            "| offset: 1 CreateTime: 2 keysize: 3 valuesize: 4 sequence: -1 headerKeys: [] "
            "key: transaction_metadata::transactionalId=a_b payload: producerId:1,producerEpoch:0,p=[t-0]",
        ),
        (
            "| offset: 1 CreateTime: 2 keySize: 3 valueSize: -1 sequence: -1 headerKeys: [] "
            "key: {&quot;type&quot;:&quot;0&quot;} payload: &lt;DELETE&gt;",
            "| offset: 1 CreateTime: 2 keySize: 3 valueSize: -1 sequence: -1 headerKeys: [] "
            'key: {"type":"0"} payload: <DELETE>',
        ),
        (
            "| offset: 1 CreateTime: 2 keySize: 3 valueSize: 9 sequence: -1 headerKeys: [] payload: {\u201ca\u201d:1}",
            '| offset: 1 CreateTime: 2 keySize: 3 valueSize: 9 sequence: -1 headerKeys: [] payload: {"a":1}',
        ),
        (
            "offset: 4 position: 9 CreateTime: 5 sequence: \u22121 isTransactional: true headerKeys: []",
            "offset: 4 position: 9 CreateTime: 5 sequence: -1 isTransactional: true headerKeys: []",
        ),
    ],
)
def test_an_escaped_decoder_s_text_is_undone(pasted: str, meant: str) -> None:
    found = as_printed(pasted)
    assert found is not None
    assert found.text == meant


@pytest.mark.parametrize(
    ("line", "shape", "fields"),
    [
        (
            "offset: 4 ... producerId: 7 producerEpoch: 2 ... endTxnMarker: ABORT coordinatorEpoch: 0",
            ToolLineKind.RECORD,
            {"offset": "4", "producerId": "7", "producerEpoch": "2", "endTxnMarker": "ABORT", "coordinatorEpoch": "0"},
        ),
        (
            "> baseOffset: 7 lastOffset: 8 \u2026 producerId: 7",
            ToolLineKind.BATCH,
            {"baseOffset": "7", "lastOffset": "8", "producerId": "7"},
        ),
        ("... producerId: 7 .... producerEpoch: ...", ToolLineKind.BATCH, {"producerId": "7"}),
        (
            "producerEpoch: 2 [...] producerId: 7 offset: 4",
            ToolLineKind.RECORD,
            {"producerEpoch": "2", "producerId": "7", "offset": "4"},
        ),
    ],
)
def test_fields_that_were_left_out_are_absent_and_the_line_says_so(
    line: str, shape: ToolLineKind, fields: dict[str, str]
) -> None:
    found = as_printed(line)
    assert found is not None
    assert (found.kind, dict(found.fields), found.is_elided) == (shape, fields, True)


@pytest.mark.parametrize(
    "text",
    [
        "I looked at offset: 4 and there producerId: 7 is wrong",
        "offset: 4 is bad",
        "the topic has partition: 3",
        "[2026-11-21 10:23:51,003] INFO offset: 4 position: 7 producerId: 5 count: 3 (kafka.Foo)",
        "2026-11-21 10:23:51.003 WARN a - Dumping state to disk",
        "producer said: baseOffset: 5 lastOffset: 7",
        "",
        "> ",
        "x" * 100_000,
        "baseOffset",
    ],
)
def test_prose_and_logs_are_no_lines_of_a_tool(text: str) -> None:
    assert as_printed(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "> " * 200_000 + "offset: 1 position: 2",
        "offset: " + "1" * 500_000 + " position: " + "2" * 500_000,
        "| offset: 1 headerKeys: [" + "[a," * 200_000,
        "offset: 1 " + "... " * 200_000,
        "a" * 500_000 + "::TransactionMetadata(",
        "producerId: 1 cachedMetadata: Queue(" + "B(" * 200_000,
        "\\|" * 300_000 + " offset: 1 position: 2",
        "12:" * 200_000 + "offset: 1 position: 2",
        "*" * 400_000 + " offset: 1 position: 2",
        "`" * 400_000 + "offset: 1 position: 2" + "`" * 400_000,
    ],
    ids=lambda text: re.sub(r"(.)\1+", r"\1", text)[:20],
)
def test_hostile_lines_take_no_time(text: str) -> None:
    as_printed(text)
