"""A partition that an operator aborted by hand while its transaction was open, and the client's commit behind it.

kafka-transactions.sh abort writes the marker into the partition's log and asks no coordinator: the transaction goes on,
and its commit succeeds. Then the records of that partition are gone, and those of the others are committed. Told by the
command on a page, a commit behind it, and that the transaction was open before or that its halves differ.

Look-alikes  a transaction that hung, which the command is for: no client has it any more, and what is committed later
             is another one; a command that is only advised.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.events import Statement
from kafkatx.text.pages.naming import origin_of_command
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.values import Refs, TopicPartition, facts

BY_HAND, BEGAN, COMMITTED, DIFFER = "marker_by_hand", "began_told", "commit_ok", "halves_differ"
BEGINNINGS = (EventKind.begin_called, EventKind.producer_id_set, EventKind.init_called, EventKind.init_returned)
OPEN = (EventKind.begin_called, EventKind.transaction_open)
COMMIT = "commitTransaction"


@facts
class HalfAborted:
    """An abort by hand, what says that the transaction was open then, and the commit behind it; `place` is its own."""

    place: TopicPartition | None
    aborted: Refs
    open_before: Refs
    committed: Refs
    halves: Refs


@dataclass(frozen=True, slots=True)
class _Page:
    """What one page says, in the order of its lines: statements and events."""

    model: CaptureModel
    path: str
    said: tuple[Statement, ...]
    rows: tuple[int, ...]

    def line(self, row: int) -> int:
        """The line of an event."""
        return int(self.model.logs.events["line"][row])

    def told(self, name: str) -> list[Statement]:
        """Statements of a kind."""
        return [one for one in self.said if one.name == name]

    def of_kind(self, *kinds: EventKind) -> list[int]:
        """Events of some kinds."""
        return [row for row in self.rows if self.model.logs.kind(row) in kinds]

    def places(self, said: list[Statement], rows: list[int]) -> tuple[EvidenceRef, ...]:
        """The lines of statements, or else of events."""
        return testimony_refs(self.path, said[:2]) or event_refs(self.model, rows, 2)


def half_aborted(model: CaptureModel) -> Iterator[Case]:
    """One case for each page on which a partition was aborted by hand before its transaction was committed."""
    for page in _pages(model):
        for aborted in page.told(BY_HAND)[:1]:
            case = _case(page, aborted)
            if case is not None:
                yield case


def _pages(model: CaptureModel) -> Iterator[_Page]:
    """Pages on which somebody calls the tool."""
    logs, seen = model.logs, set[str]()
    for source in logs.facts.sources:
        if source.path not in seen and any(one.name == BY_HAND for one in source.statements):
            seen.add(source.path)
            numbers = [number for number, one in enumerate(logs.facts.sources) if one.path == source.path]
            rows = [row for row in range(len(logs.events)) if logs.events["source"][row] in numbers]
            yield _Page(model, source.path, source.statements, tuple(rows))


def _case(page: _Page, aborted: Statement) -> Case | None:
    done = [one for one in page.told(COMMITTED) if one.line > aborted.line]
    rows = [row for row in page.rows if page.line(row) > aborted.line and _is_commit(page.model.logs, row)]
    if not done and not rows:
        return None
    until = min([one.line for one in done] + [page.line(row) for row in rows])
    anew = [one.line for one in page.told(BEGAN)] + [page.line(row) for row in page.of_kind(*BEGINNINGS)]
    if any(aborted.line < line < until for line in anew):
        return None
    halves = page.told(DIFFER)
    opened = [one for one in page.told(BEGAN) if one.line < aborted.line]
    seen = [row for row in page.of_kind(*OPEN) if page.line(row) < aborted.line]
    hung = page.of_kind(EventKind.hanging_found)
    if not halves and (hung or not (opened or seen)):
        return None
    place = _place(aborted.text)
    return Case(
        facts=HalfAborted(
            place=place,
            aborted=testimony_refs(page.path, [aborted]),
            open_before=page.places(opened, seen),
            committed=page.places(done, rows),
            halves=testimony_refs(page.path, halves[:1]),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        topic=place.topic if place is not None else None,
        partition=place.partition if place is not None else None,
    )


def _is_commit(logs: LogModel, row: int) -> bool:
    """Whether a client says that its commit succeeded."""
    if logs.kind(row) is not EventKind.client_state:
        return False
    said, call = logs.string(row, "detail"), logs.string(row, "api")
    return said == "committed" or (said == "returned" and call == COMMIT)


def _place(text: str) -> TopicPartition | None:
    """The partition that a command names."""
    named = origin_of_command(text)
    if named.topic is None or named.partition is None:
        return None
    return TopicPartition(named.topic, named.partition)


HALF_WORDS = Words(
    HalfAborted,
    title="a partition was aborted by hand before the commit",
    summary="Somebody aborted[ {place}] by hand while the transaction was open, and the client committed it "
    "afterwards: its records there are[ {perhaps}] lost, those in its other partitions are committed.",
    steps=(
        step("The transaction was open", cites="open_before", needs="open_before"),
        step("An operator wrote an ABORT marker into one partition; no coordinator is asked", cites="aborted"),
        step("Then the client's commit succeeded", cites="committed"),
        step("What is read of it differs between partitions", cites="halves", needs="halves"),
    ),
    considered=(
        left_open(
            "a transaction that hung, and a commit of another one",
            "the command is made for that",
            decided_by="the producer id, epoch and times of both markers in the dumps of the partitions",
        ),
    ),
    remedies=(
        remedy(
            "First compare producer id, epoch and time of both markers in dumps of the partitions: only if they are of "
            "one transaction, send again what it wrote to[ {place}] and nothing else, the rest is committed. Or "
            "compensate for it in the application. Of two transactions it may be stored twice",
            "application",
        ),
        remedy(
            "Abort by hand only what kafka-transactions.sh find-hanging lists. A transaction that its coordinator has "
            "as Ongoing ends with its timeout",
            "operator",
        ),
    ),
)
