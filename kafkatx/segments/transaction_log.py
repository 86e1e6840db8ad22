"""A segment of `__transaction_state` as chunks of coordinator rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.kernels.rows import STATE
from kafkatx.kernels.transaction_log import (
    BAD_KEY,
    BAD_VALUE,
    NO_RECORD,
    NOT_HELD,
    PLACES,
    PROBLEM,
    UNKNOWN_KEY,
    UNKNOWN_VALUE,
    walk_states,
)
from kafkatx.segments.batches import NO_LIMIT, Chunk, Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile

ROWS_PER_CALL = 32_768
EXPECTED = {
    NO_RECORD: "a record inside its batch",
    BAD_KEY: "a transaction log key",
    UNKNOWN_KEY: "a key of version 0",
    BAD_VALUE: "a transaction log value that ends where its record ends",
    UNKNOWN_VALUE: "a value of version 0 or 1",
    NOT_HELD: "a batch that fits the memory set aside for one",
}


class StateWalk(SegmentWalk):
    """One pass over the coordinator rows of a file; every batch is CRC-checked. Damage and ends as in SegmentWalk."""

    def __init__(self, file: OpenFile, names: Names, *, first_offset: int = 0, offset_limit: int = NO_LIMIT) -> None:
        """Prepare a walk of `file`; `names` gets the ids and partition lists it meets."""
        super().__init__(file, check=CHECK_ALL, first_offset=first_offset, offset_limit=offset_limit, bodies=True)
        self.names = names

    def state_chunks(self) -> Iterator[tuple[Rows, Rows]]:
        """Yield (batch rows, state rows in offset order) a chunk."""
        for chunk in self.chunks():
            yield chunk.rows, self._states(chunk)

    def _states(self, chunk: Chunk) -> Rows:
        """Read all records of the chunk's batches."""
        parts, number, record = [], 0, 0
        room = min(ROWS_PER_CALL, int(chunk.rows["record_count"].clip(0).sum()) + 1)
        while number < len(chunk.rows):
            out, places, problems = np.zeros(room, STATE), np.zeros(room, PLACES), np.zeros(1024, PROBLEM)
            data, start = walk_states.view(chunk.data), -chunk.data_position
            count, bad, number, record = walk_states(data, start, chunk.rows, number, record, out, places, problems)
            walk_states.count(count)
            self._note_problems(chunk.rows, problems[:bad])
            parts.append(self._named(chunk.data, out[:count], places[:count]))
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0, STATE)

    def _named(self, data: memoryview, rows: Rows, places: Rows) -> Rows:
        """Put the codes of ids, partition lists and unknown tags into the rows."""
        names = self.names
        rows["id_code"] = names.transactional_ids.codes(data, places["id_start"], places["id_length"])
        rows["partitions_code"] = names.list_codes(
            data, places["list_start"], places["list_length"], rows["value_version"]
        )
        rows["unknown_tags_code"] = names.unknown_tags.codes(data, places["tags_start"], places["tags_length"])
        return rows

    def _note_problems(self, batches: Rows, problems: Rows) -> None:
        for problem in problems:
            batch = batches[int(problem["batch_row"])]
            expected = EXPECTED[int(problem["outcome"])]
            found = f"a record at offset {int(problem['offset'])} that is none"
            self._note(Damage("entry", self.file.path, int(batch["position"]), int(batch["size"]), expected, found))
