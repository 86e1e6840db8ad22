"""What releases of kafka-dump-log from 0.11 to 4.1 print of one and the same log.

The texts in `printed/` were written by the releases named; the logs are those of the fixtures and of `make.py`, which
hold what is hard: ends of lines and lines of the tool inside keys, values and keys of headers, bytes that are no UTF-8,
empty batches, unknown control records, messages of formats 0 and 1 in wrappers.
"""

from pathlib import Path

import pytest

from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.entries import producer_entries
from kafkatx.text.dump.offsets import offset_rows
from kafkatx.text.dump.table import record_rows
from tests.evidence import FIXTURES
from tests.text.dump.comparing import (
    batches_of_bytes,
    batches_of_text,
    differing,
    records_of_bytes,
    states_of_bytes,
    states_of_text,
    whole,
)

FOLDER = Path(__file__).parent / "printed"
TEXTS = Path(__file__).parents[2] / "dump_text/golden/texts-0/00000000000000000000.log"
MESSAGES = FIXTURES / "k011-legacy-formats/broker-1/metrics-changed-0/00000000000000000000.log"
STATES = FIXTURES / "k39-expired/broker-1/__transaction_state-1/00000000000000000000.log"
OFFSETS = FIXTURES / "k25-eos-groups/broker-1/__consumer_offsets-0/00000000000000000000.log"

EXCUSED = {
    ("0.11.0.3", "texts"): ({"max_timestamp": [83]}, "records of a batch with a horizon beyond its last time"),
    ("1.0.2", "texts-deep"): ({"max_timestamp": [83]}, "the same"),
    ("1.0.2", "texts-shallow"): (
        {"is_control": [91], "control_type": [91]},
        "a control batch outside of transactions (KRaft), which no broker of that time could write",
    ),
}
"""By text: columns that differ, with the base offsets of the batches, and why."""


def printed(*names: str) -> list[tuple[str, str]]:
    """Release and name of the texts with these names."""
    found = sorted((path.parent.name, path.stem) for path in FOLDER.glob("*/*.txt"))
    return [(release, name) for release, name in found if name in names]


def text_of(release: str, name: str) -> Path:
    return FOLDER / release / f"{name}.txt"


def is_flat(release: str) -> bool:
    """Whether a release prints no line for a batch when it prints records."""
    return tuple(map(int, release.split("."))) < (2, 2)


def of_texts(release: str, name: str):
    rows = batches_of_bytes(TEXTS)
    return rows[rows["record_count"] > 0] if is_flat(release) and "shallow" not in name else rows


@pytest.mark.parametrize(("release", "name"), printed("texts", "texts-deep", "texts-shallow", "texts-skip"))
def test_batches_of_odd_texts(release, name):
    ours, theirs = batches_of_text(text_of(release, name), "texts"), of_texts(release, name)
    assert ours.rows["base_offset"].tolist() == theirs["base_offset"].tolist()
    assert not ours.damage
    wrong = {column: theirs["base_offset"][rows].tolist() for column, rows in differing(ours, theirs).items()}
    assert wrong == EXCUSED.get((release, name), ({}, ""))[0]


@pytest.mark.parametrize(("release", "name"), printed("texts"))
def test_records_of_odd_texts(release, name):
    with OpenFile(str(text_of(release, name))) as file:
        ours = [record for record in record_rows(file, whole(file, "texts")) if not record.is_control]
    theirs = [record for batch, record in records_of_bytes(TEXTS) if not batch.is_control]
    assert [record.offset for record in ours] == [record.offset for record in theirs]
    for mine, record in zip(ours, theirs, strict=True):
        is_text = is_utf8(record.key) and is_utf8(record.value)
        if release < "2.4.1" and record.value is None:  # then not even the key was printed
            is_text = False
        assert (mine.key, mine.value) == ((record.key, record.value) if is_text else (None, None))


def is_utf8(data: bytes | None) -> bool:
    return data is None or "\ufffd" not in data.decode(errors="replace")


@pytest.mark.parametrize(("release", "name"), printed("messages", "messages-shallow"))
def test_messages_of_old_formats(release, name):
    ours, theirs = batches_of_text(text_of(release, name), "metrics"), batches_of_bytes(MESSAGES)
    assert len(ours) == len(theirs)
    assert differing(ours, theirs) == {}
    if name == "messages":
        with OpenFile(str(text_of(release, name))) as file:
            records = [(found.offset, found.key) for found in record_rows(file, whole(file, "metrics"))]
        assert len(records) == 24
        assert all(
            key in (None, record.key) for (_, key), (_, record) in zip(records, records_of_bytes(MESSAGES), strict=True)
        )


@pytest.mark.parametrize(("release", "name"), printed("states"))
def test_coordinator_rows_of_every_release(release, name):
    names = Names()
    ours, theirs = states_of_text(text_of(release, name), names), states_of_bytes(STATES, names)
    batches = batches_of_text(text_of(release, name), "__transaction_state")
    dies = tuple(map(int, release.split("."))) < (2, 4, 1)
    assert len(ours) == (4 if dies else len(theirs) == 9 and 9)
    assert [damage.kind for damage in batches.damage] == ["torn"] * dies
    assert differing(ours, theirs[: len(ours)]) == {}
    has_start = release >= "4.1"
    assert ours.knows("client_transaction_version")[0] == has_start
    assert ours.knows("started_at").all()


@pytest.mark.parametrize(("release", "name"), printed("offsets"))
def test_offset_commits_of_every_release(release, name):
    with OpenFile(str(text_of(release, name))) as file:
        ours = list(offset_rows(file, whole(file, "__consumer_offsets")))
    if release == "2.3.1":  # the tool ended at the first record, of a version that it does not know
        assert ours == []
        assert [damage.kind for damage in batches_of_text(text_of(release, name)).damage] == ["torn"]
        return
    commits = [(row.offset, row.topic, row.partition, row.committed_offset) for row in ours]
    assert commits[:3] == [(1, "clicks", 1, 2), (4, "clicks", 1, 4), (7, "clicks", 1, 6)]
    assert {row.group for row in ours} == {"etl-late", "etl-new"}


@pytest.mark.parametrize(("release", "name"), printed("entries"))
def test_producer_states_of_every_release(release, name):
    with OpenFile(str(text_of(release, name))) as file:
        ours = producer_entries(file, whole(file))
    assert ours.rows["open_since_offset"].tolist() == [-1, -1, -1, -1, 56, -1, 56, -1]
    assert ours.rows["last_offset"].tolist() == [45, 0, 54, 0, 65, 0, 75, 0]
    assert set(ours.rows["timestamp"][1::2].tolist()) == {1795257649445}
    assert all(ours.knows(column).all() for column in ours.columns)
