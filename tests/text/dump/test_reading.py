"""Tables out of recorded dump texts are the tables of the dumped bytes, on the columns that the texts carry."""

import pytest

from kafkatx.outputs.dump_decoders import coordinator_decoder
from kafkatx.segments.entries import aborted_transactions, producer_states
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.terms.java_text import java_text
from kafkatx.text.dump.entries import aborted_entries, producer_entries
from kafkatx.text.dump.offsets import offset_rows
from kafkatx.text.dump.table import record_rows
from tests.dump_text.texts import MISPRINTS, Recorded, made, recorded
from tests.text.dump.comparing import (
    batches_of_bytes,
    batches_of_text,
    differing,
    records_of_bytes,
    states_of_bytes,
    states_of_text,
    whole,
)

LOGS = [*recorded(".log"), *(text for text in made() if text.file.suffix == ".log")]
DEEP = [text for text in LOGS if not text.is_shallow]
CASES = sorted({text.case for text in LOGS})
ENTRIES = [
    *recorded(".txnindex", ".snapshot"),
    *(text for text in made() if text.file.suffix in (".txnindex", ".snapshot")),
]


def breaks_off(text: Recorded) -> bool:
    """Whether the tool ended in the middle of this text."""
    ends = [row for row in MISPRINTS if row.effect == "end" and row.concerns(text)]
    return any(row.matches(line) for row in ends for line in text.text().split("\n"))


def of_case(texts: list[Recorded], case: str) -> list[Recorded]:
    return [text for text in texts if text.case == case]


@pytest.mark.parametrize("case", CASES)
def test_batches_are_those_of_the_files(case):
    for text in of_case(LOGS, case):
        check_batches(text)


def check_batches(text: Recorded) -> None:
    ours, theirs = batches_of_text(text.text_file, text.topic), batches_of_bytes(text.file)
    if breaks_off(text):
        assert [damage.kind for damage in ours.damage] == ["torn"]
        assert 0 < len(ours) < len(theirs)
    else:
        assert len(ours) == len(theirs)
        assert not ours.damage
    assert not ours.is_elided
    assert not ours.left_out
    assert differing(ours, theirs[: len(ours)]) == {}


@pytest.mark.parametrize("case", CASES)
def test_coordinator_rows_are_those_of_the_files(case):
    for text in of_case(DEEP, case):
        if text.topic == "__transaction_state":
            check_states(text)


def check_states(text: Recorded) -> None:
    names = Names()
    theirs, ours = states_of_bytes(text.file, names), states_of_text(text.text_file, names)
    assert len(ours) == len(theirs) or breaks_off(text)
    assert not [damage for damage in ours.damage if text.case != "made"]
    assert differing(ours, theirs[: len(ours)]) == {}


@pytest.mark.parametrize("case", CASES)
def test_records_are_those_of_the_files(case):
    for text in of_case(DEEP, case):
        check_records(text)


def check_records(text: Recorded) -> None:
    with OpenFile(str(text.text_file)) as file:
        ours = list(record_rows(file, whole(file, text.topic)))
    theirs = list(records_of_bytes(text.file))
    assert len(ours) == len(theirs) or breaks_off(text)
    for mine, (batch, record) in zip(ours, theirs, strict=False):
        assert (mine.offset, mine.timestamp) == (record.offset, record.timestamp)
        assert mine.sequence in (None, record.sequence)
        assert mine.producer_id in (None, batch.producer_id)
        assert mine.producer_epoch in (None, batch.producer_epoch)
        assert mine.is_transactional in (None, batch.is_transactional)
        assert mine.is_control in (None, batch.is_control)
        if mine.key is not None:
            assert mine.key.decode() == java_text(record.key)
        if mine.value is not None:
            assert mine.value.decode() == java_text(record.value)
        if not breaks_off(text):
            assert mine.header_keys == ",".join(java_text(key) for key, _ in record.headers)


@pytest.mark.parametrize("text", [text for text in DEEP if text.topic == "__consumer_offsets"], ids=str)
def test_offset_commits_are_those_of_the_file(text):
    decode = coordinator_decoder("group_coordinator")
    with OpenFile(str(text.text_file)) as file:
        rows = list(offset_rows(file, whole(file, text.topic)))
    ours = [
        (row.offset, row.group, row.topic, row.partition, row.committed_offset, row.producer_id, row.is_transactional)
        for row in rows
    ]
    theirs = []
    for batch, record in records_of_bytes(text.file):
        key, value = decode(record.key, record.value, record.offset)
        if not batch.is_control and isinstance(key, dict) and key["type"] in ("0", "1"):
            data = key["data"]
            offset = value["data"]["offset"] if isinstance(value, dict) else None
            names = data["group"], data["topic"], data["partition"]
            theirs.append((record.offset, *names, offset, batch.producer_id, batch.is_transactional))
    assert ours == theirs
    assert all(row.is_tombstone == (row.committed_offset is None) for row in rows)


def entries_of_bytes(text: Recorded):
    path = str(text.file)
    if text.file.suffix == ".txnindex":
        return aborted_transactions(path, text.file.read_bytes())[0]
    return producer_states(path, text.file.read_bytes())[0]


READERS = {
    ".txnindex": aborted_entries,
    ".snapshot": producer_entries,
}


@pytest.mark.parametrize("case", CASES)
def test_entries_of_indexes_and_snapshots_are_those_of_the_files(case):
    for text in of_case(ENTRIES, case):
        check_entries(text)


def check_entries(text: Recorded) -> None:
    with OpenFile(str(text.text_file)) as file:
        ours = READERS[text.file.suffix](file, whole(file))
    theirs = entries_of_bytes(text)
    assert len(ours) == len(theirs)
    assert not ours.damage
    assert differing(ours, theirs) == {}


def test_all_kinds_of_texts_are_there():
    assert {text.file.suffix for text in ENTRIES} == set(READERS)
    assert {text.version[:2] for text in LOGS} >= {(0, 11), (1, 1), (2, 0), (2, 4), (2, 5), (2, 8), (3, 3), (3, 9)}
    assert any(breaks_off(text) for text in LOGS)
