"""What every release of kafka-dump-log printed of recorded files, field by field."""

import pytest

from kafkatx.outputs.dump_entries import aborted_entries, producer_entries
from kafkatx.outputs.dump_indexes import IndexDump
from kafkatx.outputs.dump_log import LogDump
from kafkatx.outputs.dump_options import DumpOptions
from kafkatx.segments.damage import Damage
from kafkatx.sources.files import OpenFile
from tests.dump_text.eras import EraLines, producer_line, unordered
from tests.dump_text.texts import DATA_ROOT, MISPRINTS, Recorded, lines_of, made, recorded, without_misprints
from tests.evidence import groundtruth

JSON_SINCE = (4, 1)
"""From here on whole outputs are compared (test_dump.py)."""

LOGS = [
    text
    for text in recorded(".log")
    if text.version < JSON_SINCE and (not text.topic.startswith("__") or text.topic == "__transaction_state")
]
ENTRIES = list(recorded(".txnindex", ".snapshot", ".index", ".timeindex"))


def our_log_lines(text: Recorded) -> list[str]:
    with OpenFile(str(text.file)) as file:
        writer = EraLines(text.version, text.topic == "__transaction_state", is_deep=not text.is_shallow)
        dump = LogDump(file, DumpOptions(deep=not text.is_shallow), writer)
        lines = list(dump.pieces())
        assert not [piece for piece in lines if isinstance(piece, Damage)]
        assert dump.trailing_bytes == 0
    return lines


def our_entry_lines(text: Recorded) -> list[str]:
    path = str(text.file)
    if text.file.suffix == ".txnindex":
        return [line for line, _ in aborted_entries(path)[0]]
    if text.file.suffix == ".snapshot":
        return [producer_line(text.version, fields) for _, fields in producer_entries(path)[0]]
    index = IndexDump(path, int(text.file.stem), of_times=text.file.suffix == ".timeindex")
    return [line for line, _ in index.entries()]


def first_lines(text: Recorded) -> list[str]:
    lines = [f"Dumping {DATA_ROOT}/{text.file.parent.name}/{text.file.name}\n"]
    if text.file.suffix == ".log":
        lines.append(f"{'Log s' if text.version >= (3, 3) else 'S'}tarting offset: {int(text.file.stem)}\n")
    return lines


def compare(text: Recorded, ours: list[str]) -> set:
    """Hold our lines against the recorded ones; returns the misprints that were met."""
    used = set()
    printed, breaks_off = without_misprints(text, used)
    expected = [unordered(line) for line in printed]
    found = [unordered(line) for line in lines_of("".join(ours))]
    assert (found[: len(expected)] if breaks_off else found) == expected
    return used


@pytest.mark.parametrize("text", LOGS, ids=str)
def test_every_field_of_a_log_is_ours(text):
    compare(text, first_lines(text) + our_log_lines(text))


@pytest.mark.parametrize("text", ENTRIES, ids=str)
def test_every_field_of_an_index_or_snapshot_is_ours(text):
    compare(text, first_lines(text) + our_entry_lines(text))


def test_all_generations_of_the_tool_are_there():
    assert {text.version[:2] for text in LOGS} >= {(0, 11), (1, 1), (2, 0), (2, 4), (2, 5), (2, 8), (3, 3), (3, 9)}
    assert any(text.is_shallow for text in LOGS) or groundtruth() is None
    assert {text.file.suffix for text in ENTRIES} == {".txnindex", ".snapshot", ".index", ".timeindex"}


def test_every_misprint_is_met():
    used = set()
    for text in (*LOGS, *ENTRIES, *made()):
        without_misprints(text, used)
    assert set(MISPRINTS) == used


def test_a_line_that_differs_in_one_field_is_seen():
    text = next(text for text in LOGS if text.version >= (2, 2) and not text.is_shallow)
    ours = first_lines(text) + our_log_lines(text)
    for number, line in enumerate(ours[2:6], 2):
        with pytest.raises(AssertionError):
            compare(text, [*ours[:number], line.replace("ffset: ", "ffset: 1", 1), *ours[number + 1 :]])
