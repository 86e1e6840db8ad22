"""Rows out of a text held against the rows of the bytes that were dumped."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.kernels.rows import BATCH, STATE
from kafkatx.outputs.dump_columns import BatchView, RecordView, batch_views, record_views
from kafkatx.segments.batches import SegmentWalk
from kafkatx.segments.names import Names
from kafkatx.segments.records import RecordWalk
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.batches import batch_chunks
from kafkatx.text.dump.rows import TextRows
from kafkatx.text.dump.states import state_chunks
from kafkatx.text.pages.part import PartKind, TextPart

ATTRIBUTES = {
    "codec": 0x07,
    "timestamp_type": 0x08,
    "is_transactional": 0x10,
    "is_control": 0x20,
    "delete_horizon": 0x40,
}


def whole(file: OpenFile, topic: str | None = None, **about) -> TextPart:
    """All of a file as one part."""
    return TextPart(PartKind.DUMP_LOG, 0, file.size, 1, topic, **about)


def united(chunks: list[TextRows]) -> TextRows:
    """Chunks as one."""
    first = chunks[0]
    return TextRows(
        first.columns,
        *(
            np.concatenate([getattr(chunk, name) for chunk in chunks])
            for name in ("rows", "lines", "positions", "known")
        ),
        [damage for chunk in chunks for damage in chunk.damage],
        [stretch for chunk in chunks for stretch in chunk.left_out],
        any(chunk.is_elided for chunk in chunks),
    )


def batches_of_text(path: Path, topic: str | None = None) -> TextRows:
    with OpenFile(str(path)) as file:
        return united(list(batch_chunks(file, whole(file, topic))))


def states_of_text(path: Path, names: Names) -> TextRows:
    with OpenFile(str(path)) as file:
        return united([states for _, states in state_chunks(file, whole(file, "__transaction_state"), names)])


def batches_of_bytes(path: Path):
    with OpenFile(str(path)) as file:
        return np.concatenate(
            [np.zeros(0, BATCH), *(chunk.rows for chunk in SegmentWalk(file, check=CHECK_ALL).chunks())]
        )


def states_of_bytes(path: Path, names: Names):
    with OpenFile(str(path)) as file:
        return np.concatenate([np.zeros(0, STATE), *(rows for _, rows in StateWalk(file, names).state_chunks())])


def records_of_bytes(path: Path) -> Iterator[tuple[BatchView, RecordView]]:
    with OpenFile(str(path)) as file:
        for chunk in RecordWalk(file, check=CHECK_ALL).record_chunks():
            batches = list(batch_views(chunk.batches, file))
            for record in record_views(chunk):
                yield batches[record.batch_row], record


def differing(ours: TextRows, rows) -> dict[str, list[int]]:
    """By column the numbers of the rows that differ where the text carries it."""
    found = {}
    for column in ours.columns:
        name, mask = ("attributes", ATTRIBUTES[column]) if column in ATTRIBUTES else (column, None)
        mine, theirs = ours.rows[name], rows[name]
        if mask is not None:
            mine, theirs = mine & mask, theirs & mask
        wrong = np.flatnonzero(ours.knows(column) & (mine != theirs)).tolist()
        if wrong:
            found[column] = wrong
    return found
