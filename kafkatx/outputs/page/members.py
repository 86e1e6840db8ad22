"""The table of all ids of a capture: a row an id, with what became of its transactions and when they were."""

from __future__ import annotations

from kafkatx.histories.pictures.crowd import PARTS, Crowd, Member
from kafkatx.outputs.page.about import BySubject, about, name_of
from kafkatx.outputs.page.drawing import highest, share_paths
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity

MOST_MEMBERS = 1_000
"""Ids in the table of all."""


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A row of the table of all ids; `begun`, `unkept` and `lost` are paths (`share_paths`)."""

    name: str
    severity: str | None
    findings: tuple[str, ...]
    transactions: int
    aborted: int
    open: int
    median: str
    longest: str
    begun: str
    unkept: str
    lost: str

    def column(self, name: str) -> str:
        """Return what stands in one of COLUMNS, "" where nothing does."""
        counts = {"aborted": self.aborted, "not ended": self.open}
        if name in counts:
            return f"{counts[name]:,}" if counts[name] else ""
        return {"worst": self.severity or "", "median": self.median, "longest": self.longest}[name]


COLUMNS = ("worst", "aborted", "not ended", "median", "longest")
"""Columns of the table of all ids that are left out where they are empty for all of them."""


@dataclass(frozen=True, slots=True)
class Members:
    """All ids, the worst first, or none where there is one only; `more` are left out.

    `columns` are those of COLUMNS in which something stands; `highest` is how many transactions a part of the time
    holds at most, which is how high all columns over time are measured, `part` how long a part is.
    """

    rows: tuple[MemberRow, ...]
    more: int
    columns: tuple[str, ...]
    highest: int
    part: str


def members(all_ids: Crowd, of_id: BySubject) -> Members:
    """Lay the ids of a capture in a table."""
    most = max(map(highest, all_ids.members), default=0)
    rows = sorted((_row(member, of_id, most, all_ids.until) for member in all_ids.members), key=_worst_first)
    shown = rows[:MOST_MEMBERS] if len(rows) > 1 else []
    return Members(tuple(shown), max(0, len(rows) - MOST_MEMBERS), _filled(shown), most, _part(all_ids))


def _filled(rows: list[MemberRow]) -> tuple[str, ...]:
    """The columns in which something stands."""
    return tuple(name for name in COLUMNS if any(row.column(name) for row in rows))


def _part(all_ids: Crowd) -> str:
    """How long a part of a capture's time is, "" where it has none."""
    if all_ids.since is None or all_ids.until is None or all_ids.until - all_ids.since < PARTS:
        return ""
    return duration((all_ids.until - all_ids.since) // PARTS)


def _row(member: Member, of_id: BySubject, most: int, end: int | None) -> MemberRow:
    found, told = about(member.transactional_id, member.producer_ids, of_id), member.overview
    worst = max((one.finding.severity for one in found), default=None)
    begun, unkept, lost = share_paths(member, most)
    return MemberRow(
        name=name_of(member.transactional_id, member.producer_ids),
        severity=None if worst is None else worst.name,
        findings=tuple(one.id for one in found),
        transactions=told.transactions or sum(member.begun),
        aborted=told.aborted or sum(member.aborted),
        open=told.open + told.unended,
        median="" if told.median_ms is None else duration(told.median_ms),
        longest=_longest(member, end),
        begun=begun,
        unkept=unkept,
        lost=lost,
    )


def _longest(member: Member, end: int | None) -> str:
    """How long the longest transaction took, or has taken when the evidence ends."""
    ended = member.overview.longest_ms
    so_far = None if member.oldest_open is None or end is None else end - member.oldest_open
    if so_far is not None and so_far >= (ended or 0):
        return f"{duration(so_far)}, not ended"
    return "" if ended is None else duration(ended)


def _worst_first(row: MemberRow) -> tuple[int, int, str]:
    return -(Severity[row.severity] if row.severity is not None else -1), -row.aborted, row.name
