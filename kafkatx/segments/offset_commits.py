"""A segment of `__consumer_offsets` as chunks of offset commits, whatever the codec and magic of its batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.kernels.offset_commits import BAD_KEY, BAD_VALUE, UNKNOWN_VALUE, walk_commits
from kafkatx.kernels.rows import COMMIT
from kafkatx.kernels.transaction_log import PROBLEM
from kafkatx.segments.batches import Chunk, Rows
from kafkatx.segments.records import PROBLEMS_PER_CALL, RecordChunk, RecordWalk
from kafkatx.terms.records import dataclass

EXPECTED = {
    BAD_KEY: "a key of a group's record",
    BAD_VALUE: "an offset commit that ends where its record ends",
    UNKNOWN_VALUE: "an offset commit of version 0 to 4",
}


@dataclass(frozen=True, slots=True)
class CommitChunk:
    """Commits of some records; `rows` has dtype kernels.rows.COMMIT, its `record_row` indexes `of.records`."""

    of: RecordChunk
    rows: Rows


class CommitWalk(RecordWalk):
    """One pass over the commits of a file. Damage and ends as in RecordWalk.

    Records of a group that are no commits (its members, its assignments, those of later releases) are passed over; what
    is no record of a group, or a commit that can't be read, is damage.
    """

    def commits_of(self, chunk: Chunk) -> Iterator[CommitChunk]:
        """Yield the commits of some batches that the walk has found, in order of the file."""
        for part in self.chunks_of(chunk):
            yield CommitChunk(part, self._commits(part))

    def _commits(self, part: RecordChunk) -> Rows:
        out, problems = np.zeros(len(part.records), COMMIT), np.zeros(PROBLEMS_PER_CALL, PROBLEM)
        walk_commits.count(len(part.records))
        count, bad = walk_commits(walk_commits.view(part.data), part.batches, part.records, out, problems)
        for problem in problems[:bad]:
            found = f"a record at offset {int(problem['offset'])} that is none"
            self._note_batch(part.batches[int(problem["batch_row"])], EXPECTED[int(problem["outcome"])], found)
        return out[:count]
