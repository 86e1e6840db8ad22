"""How old a transaction was by a framework's own words, when it was taken up again after a restore (Flink)."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class ToldAge:
    """A line that names the age of a transaction and its timeout, in milliseconds."""

    row: int
    age_ms: int
    timeout_ms: int

    @property
    def is_over(self) -> bool:
        """Whether the timeout had passed."""
        return self.age_ms >= self.timeout_ms


def told_ages(logs: LogModel) -> Iterator[ToldAge]:
    """All such lines, in their order."""
    for row in logs.of_kind(EventKind.transaction_aged).tolist():
        age, timeout = logs.number(row, "number"), logs.number(row, "offset")
        if age is not None and timeout is not None:
            yield ToldAge(row, age, timeout)


def told_age(logs: LogModel, refusal: int) -> ToldAge | None:
    """The last such line of the same text at or before a line."""
    source = logs.events["source"]
    for told in reversed([told for told in told_ages(logs) if source[told.row] == source[refusal]]):
        since = logs.lasted(told.row, refusal)
        if since is not None and since >= 0:
            return told
    return None
