"""Rows out of dump text are the rows of the dumped bytes, on the columns that the text carries."""

import numpy as np
import pytest

from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.kernels.rows import BATCH, STATE
from kafkatx.segments.batches import SegmentWalk
from kafkatx.segments.names import Names
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.reading import batch_chunks, state_chunks
from kafkatx.text.pages import Part, PartKind
from tests.dump_text.texts import MISPRINTS, Recorded, recorded

LOGS = list(recorded(".log"))
PARTS = {"codec": 0x07, "timestamp_type": 0x08, "is_transactional": 0x10, "is_control": 0x20, "delete_horizon": 0x40}


def part_of(text: Recorded, size: int) -> Part:
    return Part(PartKind.DUMP_LOG, 0, size, 1, text.topic, 0)


def breaks_off(text: Recorded) -> bool:
    """Whether the tool ended in the middle."""
    ends = [row for row in MISPRINTS if row.effect == "end" and row.concerns(text)]
    return any(row.matches(line) for row in ends for line in text.text().split("\n"))


def of_bytes(text: Recorded, names: Names) -> tuple:
    with OpenFile(str(text.file)) as file:
        batches = [chunk.rows for chunk in SegmentWalk(file, check=CHECK_ALL).chunks()]
        states = []
        if text.topic == "__transaction_state":
            states = [rows for _, rows in StateWalk(file, names).state_chunks()]
    return np.concatenate([np.zeros(0, BATCH), *batches]), np.concatenate([np.zeros(0, STATE), *states])


def differences(rows, expected, known, columns) -> list[str]:
    """Columns that differ where the text carries them."""
    found = []
    for number, column in enumerate(columns):
        carried = known & (1 << number) != 0
        name, mask = ("attributes", PARTS[column]) if column in PARTS else (column, None)
        ours, theirs = rows[name], expected[name]
        if mask is not None:
            ours, theirs = ours & mask, theirs & mask
        if (ours[carried] != theirs[carried]).any():
            found.append(column)
    return found


@pytest.mark.parametrize("text", LOGS, ids=str)
def test_batches_and_states_of_a_text_are_those_of_the_file(text):
    names = Names()
    batches, states = of_bytes(text, names)
    with OpenFile(str(text.text_file)) as file:
        chunks = list(batch_chunks(file, part_of(text, file.size)))
        rows = np.concatenate([chunk.rows for chunk in chunks])
        known = np.concatenate([chunk.known for chunk in chunks])
        if breaks_off(text):
            batches = batches[: len(rows)]
        else:
            assert len(rows) == len(batches)
            assert not [damage for chunk in chunks for damage in chunk.damage]
        assert differences(rows, batches, known, chunks[0].columns) == []
        if text.topic == "__transaction_state" and not text.is_shallow:
            pairs = [found for _, found in state_chunks(file, part_of(text, file.size), names)]
            rows = np.concatenate([found.rows for found in pairs])
            known = np.concatenate([found.known for found in pairs])
            assert len(rows) == len(states) or breaks_off(text)
            assert differences(rows, states[: len(rows)], known, pairs[0].columns) == []
