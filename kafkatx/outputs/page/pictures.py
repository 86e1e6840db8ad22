"""The pictures of a page, drawn capture by capture while its model is there: what is kept is what a template takes.

Chosen  ids and partitions of findings first, the worst first; then others as long as there is room. So the size of a
        page is bounded whatever the size of the cluster, and what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import islice

from kafkatx.findings.diagnosis import Diagnosed
from kafkatx.findings.finding import Finding
from kafkatx.histories.events import Event
from kafkatx.histories.overview import overview
from kafkatx.histories.pictures.crowd import Crowd, Member, crowd
from kafkatx.histories.pictures.lanes import lane_chart
from kafkatx.histories.pictures.offsets import OffsetAxis, offset_axis
from kafkatx.histories.timeline import Timeline, book_of
from kafkatx.outputs.diagnosis_order import stories
from kafkatx.outputs.history_answer import became
from kafkatx.outputs.history_words import sentence
from kafkatx.outputs.page.drawing import Picture, axis_picture, share_paths, timeline_picture
from kafkatx.stages.judging import CaptureDiagnosis, worst_first
from kafkatx.stages.models import JudgedCapture
from kafkatx.terms.printable import printable
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import duration, iso
from kafkatx.terms.verdicts import Severity
from kafkatx.words.values import producer_name

MOST_IDS, MOST_OTHERS = 40, 8
"""Ids with findings that have a picture, and others, in a capture."""
MOST_PARTITIONS = 24
MOST_MEMBERS = 1_000
"""Ids in the table of all."""
MOST_TOLD = 60
"""Events that stand in words below a picture."""
AROUND = 0.25
"""Of a finding's time, what is shown on either side of it; a second at least."""
CLOSER = 8
"""How many times shorter than the whole a window must be to have a picture of its own."""


@dataclass(frozen=True, slots=True)
class IdPictures:
    """An id: what became of it, its pictures (all of its time, and around its findings), and events in words."""

    name: str
    became: str
    findings: tuple[str, ...]
    whole: Picture
    close: Picture | None
    events: tuple[tuple[str, str], ...]
    more_events: int


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


@dataclass(frozen=True, slots=True)
class CapturePictures:
    """The pictures of a capture; `ids` and `partitions` may be fewer than there are: the rest is counted."""

    capture: str
    since: str
    until: str
    ids: tuple[IdPictures, ...]
    more_ids: int
    partitions: tuple[Picture, ...]
    more_partitions: int
    members: tuple[MemberRow, ...]
    more_members: int


@dataclass
class Pictures:
    """Draws each capture that it is shown."""

    captures: list[CapturePictures] = field(default_factory=list)

    def add(self, told: JudgedCapture, part: CaptureDiagnosis) -> None:
        """Draw a capture; its model is not kept."""
        book = book_of(told.model)
        if not len(book):
            return
        all_ids = crowd(book)
        findings = _in_order(part.findings)
        of_id = _by_subject(findings)
        chosen = _chosen(book.timelines(), of_id, findings)
        axes = list(_axes(told, findings))
        end = told.model.facts.evidence_end
        drawn = [one for one in (_id_pictures(timeline, of_id, end) for timeline in chosen) if one is not None]
        rows = sorted((_row(member, of_id) for member in all_ids.members), key=_worst_first)
        self.captures.append(
            CapturePictures(
                capture=printable(part.capture),
                since=_time(all_ids, 0),
                until=_time(all_ids, 1),
                ids=tuple(drawn),
                more_ids=len(all_ids.members) - len(drawn),
                partitions=tuple(axis_picture(axis) for axis in axes[:MOST_PARTITIONS]),
                more_partitions=max(0, len(axes) - MOST_PARTITIONS),
                members=tuple(rows[:MOST_MEMBERS]) if len(rows) > 1 else (),
                more_members=max(0, len(rows) - MOST_MEMBERS),
            )
        )


def _time(all_ids: Crowd, which: int) -> str:
    at = (all_ids.since, all_ids.until)[which]
    return (iso(at) or "")[:19].replace("T", " ")


def _in_order(findings: list[Diagnosed]) -> list[Diagnosed]:
    """The findings of a capture in the order in which the page tells them."""
    return [found for story in stories(sorted(findings, key=worst_first)) for found in story.findings]


def _by_subject(findings: Iterable[Diagnosed]) -> dict[object, list[Diagnosed]]:
    """Findings by transactional.id, and by producer id, in their order."""
    found: dict[object, list[Diagnosed]] = {}
    for one in findings:
        subjects = one.finding.subjects
        ids = {one.finding.transactional_id, *(subject.transactional_id for subject in subjects)}
        producers = {one.finding.producer_id, *(subject.producer_id for subject in subjects)}
        for name in (*sorted(filter(None, ids)), *(producer for producer in producers if producer is not None)):
            found.setdefault(name, []).append(one)
    return found


def _about(name: str | None, producer_ids: Iterable[int], of_id: dict[object, list[Diagnosed]]) -> list[Diagnosed]:
    """The findings about an id, or about a producer that has none."""
    if name is not None:
        return of_id.get(name, [])
    return [one for producer in producer_ids for one in of_id.get(producer, [])]


def _chosen(
    timelines: Iterable[Timeline], of_id: dict[object, list[Diagnosed]], findings: list[Diagnosed]
) -> Iterator[Timeline]:
    """The ids with findings, the worst first, of equally bad ones that which is told first; then others."""
    places = {one.id: at for at, one in enumerate(findings)}
    named: list[tuple[tuple[int, int], Timeline]] = []
    others: list[Timeline] = []
    for timeline in timelines:
        found = _about(timeline.transactional_id, timeline.producer_ids, of_id)
        if found:
            worst = min((-one.finding.severity, places[one.id]) for one in found)
            named.append((worst, timeline))
        elif len(others) < MOST_OTHERS:
            others.append(timeline)
    named.sort(key=lambda one: one[0])
    yield from (timeline for _, timeline in named[:MOST_IDS])
    yield from others[: max(0, MOST_OTHERS - len(named))]


def _id_pictures(timeline: Timeline, of_id: dict[object, list[Diagnosed]], end: int) -> IdPictures | None:
    whole = lane_chart(timeline)
    if whole is None:
        return None
    found = _about(timeline.transactional_id, timeline.producer_ids, of_id)
    name = _name(timeline.transactional_id, timeline.producer_ids)
    window = _window(found)
    close = None
    if window is not None and (whole.until - whole.since) > CLOSER * (window[1] - window[0]):
        close = lane_chart(timeline, *window)
    events = [*islice(_events(timeline, window), MOST_TOLD + 1)]
    return IdPictures(
        name=name,
        became=printable(became(timeline, overview(timeline), end)),
        findings=tuple(one.id for one in found),
        whole=timeline_picture(f"{name}, from first to last", whole),
        close=timeline_picture(f"{name}, around what went wrong", close) if close is not None else None,
        events=tuple(events[:MOST_TOLD]),
        more_events=max(0, len(events) - MOST_TOLD),
    )


def _window(found: list[Diagnosed]) -> tuple[int, int] | None:
    """The time of the worst finding that has one, and some on either side."""
    for one in found:
        since, until = one.finding.since, one.finding.until
        if since is not None and until is not None:
            around = max(1_000, int((until - since) * AROUND))
            return since - around, until + around
    return None


def _events(timeline: Timeline, window: tuple[int, int] | None) -> Iterator[tuple[str, str]]:
    """Events of a window in words, with their times."""
    items = timeline.items
    for number in range(len(items)):
        at, until = int(items["at"][number]), int(items["until"][number])
        if window is None or (at <= window[1] and until >= window[0]):
            event: Event = timeline.event(number)
            yield ((iso(at) or "")[11:23] if at >= 0 else "", printable(sentence(event)))


def _axes(told: JudgedCapture, findings: list[Diagnosed]) -> Iterator[OffsetAxis]:
    """Partitions of findings, then those in which something is hidden."""
    model = told.model
    named: dict[tuple[str, int], int] = {}
    for number, one in enumerate(reversed(findings)):
        for topic, partition in _places(one.finding):
            named[topic, partition] = number
    axes = [axis for extent in model.log_extents.values() if (axis := offset_axis(model, extent)) is not None]
    axes.sort(key=lambda axis: (-named.get((axis.topic, axis.partition), -1), -axis.hidden, axis.topic, axis.partition))
    yield from axes


def _places(finding: Finding) -> Iterator[tuple[str, int]]:
    """Partitions that a finding is about."""
    about = [(finding.topic, finding.partition), *((one.topic, one.partition) for one in finding.subjects)]
    yield from ((topic, partition) for topic, partition in about if topic is not None and partition is not None)


def _name(name: str | None, producer_ids: Iterable[int]) -> str:
    return printable(name if name is not None else producer_name(None, next(iter(producer_ids), -1)))


def _row(member: Member, of_id: dict[object, list[Diagnosed]]) -> MemberRow:
    found, told = _about(member.transactional_id, member.producer_ids, of_id), member.overview
    worst = max((one.finding.severity for one in found), default=None)
    begun, unkept, lost = share_paths(member)
    return MemberRow(
        name=_name(member.transactional_id, member.producer_ids),
        severity=None if worst is None else worst.name,
        findings=tuple(one.id for one in found),
        transactions=told.transactions or sum(member.begun),
        aborted=told.aborted or sum(member.aborted),
        open=told.open,
        median="" if told.median_ms is None else duration(told.median_ms),
        longest="" if told.longest_ms is None else duration(told.longest_ms),
        begun=begun,
        unkept=unkept,
        lost=lost,
    )


def _worst_first(row: MemberRow) -> tuple[int, int, str]:
    return -(Severity[row.severity] if row.severity is not None else -1), -row.aborted, row.name
