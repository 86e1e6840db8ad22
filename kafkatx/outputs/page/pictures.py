"""The pictures of a page, drawn capture by capture while its model is there: what is kept is what a template takes.

Chosen  ids and partitions of findings first, the worst first; then others as long as there is room. So the size of a
        page is bounded whatever the size of the cluster, and what is left out is counted.
Shared  ids of one chain of causes are lanes of one picture, in the order in which they began, and all pictures of a
        capture have one axis of time, which ends with the evidence. Around what went wrong one is drawn once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from kafkatx.findings.diagnosis import Diagnosed
from kafkatx.findings.finding import Finding
from kafkatx.histories.events import Event
from kafkatx.histories.overview import overview
from kafkatx.histories.pictures.crowd import PARTS, Crowd, Member, crowd
from kafkatx.histories.pictures.lanes import MOST_LOGS, LaneChart, lane_chart, reach
from kafkatx.histories.pictures.offsets import OffsetAxis, offset_axis
from kafkatx.histories.timeline import Timeline, book_of
from kafkatx.outputs.diagnosis_order import Story, stories
from kafkatx.outputs.history_answer import became
from kafkatx.outputs.history_words import sentence
from kafkatx.outputs.page.drawing import Picture, axis_picture, highest, share_paths, timeline_picture
from kafkatx.stages.judging import CaptureDiagnosis, worst_first
from kafkatx.stages.models import JudgedCapture
from kafkatx.terms.printable import printable
from kafkatx.terms.times import duration, iso
from kafkatx.terms.verdicts import Severity
from kafkatx.words.values import producer_name

MOST_IDS, MOST_OTHERS = 40, 8
"""Ids with findings that have a picture, and others, in a capture."""
MOST_TOGETHER = 12
"""Ids in one picture."""
MOST_PARTITIONS = 24
MOST_MEMBERS = 1_000
"""Ids in the table of all."""
MOST_TOLD = 60
"""Events of an id that stand in words below a picture."""
AROUND = 0.25
"""Of the time of what went wrong, what is shown on either side of it; a second at least."""
CLOSER = 4
"""How many times shorter than the whole a window must be to have a picture of its own."""
Window = tuple[int, int]
"""From when to when, in milliseconds of the brokers' clocks."""


@dataclass(frozen=True, slots=True)
class IdTold:
    """An id below its picture: what became of it, and the ids of the findings about it."""

    name: str
    became: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupPictures:
    """Ids of one chain of causes, or all of which nothing is said, their pictures, and their events in words.

    `whole` is of all of the capture's time, `close` of the time around what went wrong; both None where marks would
    show nothing that the words don't tell. `events` are times, ids (empty where there is one) and sentences.
    """

    ids: tuple[IdTold, ...]
    whole: Picture | None
    close: Picture | None
    events: tuple[tuple[str, str, str], ...]
    more_events: int

    @property
    def findings(self) -> tuple[str, ...]:
        """Findings about any of its ids."""
        return tuple(dict.fromkeys(id for one in self.ids for id in one.findings))


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
class CapturePictures:
    """The pictures of a capture; `groups` and `partitions` may hold fewer than there are: the rest is counted.

    `columns` are those of COLUMNS in which something stands for one of `members`; `highest` is how many transactions a
    part of the time holds at most, which is how high all columns over time are measured, `part` how long a part is.
    """

    capture: str
    since: str
    until: str
    groups: tuple[GroupPictures, ...]
    more_ids: int
    partitions: tuple[Picture, ...]
    more_partitions: int
    members: tuple[MemberRow, ...]
    more_members: int
    columns: tuple[str, ...]
    highest: int
    part: str

    @property
    def findings(self) -> set[str]:
        """Findings that have a picture."""
        return {id for group in self.groups for id in group.findings}


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
        told_in = stories(sorted(part.findings, key=worst_first))
        findings = [found for story in told_in for found in story.findings]
        of_id = _by_subject(findings)
        axes = list(_axes(told, findings))
        groups = list(_Drawing(of_id, told.model.facts.evidence_end).groups(book.timelines(), told_in, findings))
        most = max(map(highest, all_ids.members), default=0)
        rows = sorted((_row(member, of_id, most, all_ids.until) for member in all_ids.members), key=_worst_first)
        self.captures.append(
            CapturePictures(
                capture=printable(part.capture),
                since=_time(all_ids, 0),
                until=_time(all_ids, 1),
                groups=tuple(groups),
                more_ids=len(all_ids.members) - sum(len(group.ids) for group in groups),
                partitions=tuple(axis_picture(axis) for axis in axes[:MOST_PARTITIONS]),
                more_partitions=max(0, len(axes) - MOST_PARTITIONS),
                members=tuple(rows[:MOST_MEMBERS]) if len(rows) > 1 else (),
                more_members=max(0, len(rows) - MOST_MEMBERS),
                columns=_filled(rows[:MOST_MEMBERS]),
                highest=most,
                part=_part(all_ids),
            )
        )


def _filled(rows: list[MemberRow]) -> tuple[str, ...]:
    """The columns in which something stands."""
    return tuple(name for name in COLUMNS if any(row.column(name) for row in rows))


def _part(all_ids: Crowd) -> str:
    """How long a part of a capture's time is, "" where it has none."""
    if all_ids.since is None or all_ids.until is None or all_ids.until - all_ids.since < PARTS:
        return ""
    return duration((all_ids.until - all_ids.since) // PARTS)


def _time(all_ids: Crowd, which: int) -> str:
    at = (all_ids.since, all_ids.until)[which]
    return (iso(at) or "")[:19].replace("T", " ")


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


@dataclass(frozen=True)
class _Drawing:
    """Draws the ids of a capture; `end` is where its evidence ends."""

    of_id: dict[object, list[Diagnosed]]
    end: int

    def groups(
        self, timelines: Iterable[Timeline], told_in: list[Story], findings: list[Diagnosed]
    ) -> Iterator[GroupPictures]:
        """Yield ids by the first chain that is about them, then those that none is about."""
        chosen = [one for one in _chosen(timelines, self.of_id, findings) if reach(one) is not None]
        if not chosen:
            return
        reaches = {id(one): found for one in chosen if (found := reach(one)) is not None}
        window = min(since for since, _ in reaches.values()), max(self.end, *(until for _, until in reaches.values()))
        chain_of = {found.id: at for at, story in enumerate(told_in) for found in story.findings}
        members: dict[int, list[Timeline]] = {}
        for timeline in chosen:
            about = self._about(timeline)
            members.setdefault(min((chain_of[one.id] for one in about), default=len(told_in)), []).append(timeline)
        for number, group in sorted(members.items()):
            group.sort(key=lambda one: reaches[id(one)][0])
            yield self._group(group[:MOST_TOGETHER], window, told_in[number] if number < len(told_in) else None)

    def _about(self, timeline: Timeline) -> list[Diagnosed]:
        return _about(timeline.transactional_id, timeline.producer_ids, self.of_id)

    def _group(self, group: list[Timeline], window: Window, story: Story | None) -> GroupPictures:
        around = _around(story, window)
        events, more = _merged(group, around)
        ids = tuple(self._told(one) for one in group)
        title = ", ".join(one.name for one in ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
        return GroupPictures(
            ids=ids,
            whole=_drawn(f"{title}, from first to last", group, window),
            close=None if around is None else _drawn(f"{title}, around what went wrong", group, around),
            events=events,
            more_events=more,
        )

    def _told(self, timeline: Timeline) -> IdTold:
        return IdTold(
            _name(timeline.transactional_id, timeline.producer_ids),
            printable(became(timeline, overview(timeline), self.end)),
            tuple(one.id for one in self._about(timeline)),
        )


def _drawn(title: str, group: list[Timeline], window: Window) -> Picture | None:
    """The picture of ids in a window, None where there is nothing to be seen in it."""
    logs = max(1, MOST_LOGS // len(group))
    charts = [(_name(one.transactional_id, one.producer_ids), lane_chart(one, *window, logs)) for one in group]
    shown: list[tuple[str, LaneChart]] = [(name, chart) for name, chart in charts if chart is not None]
    return timeline_picture(title, shown) if any(not chart.is_bare for _, chart in shown) else None


def _around(story: Story | None, window: Window) -> Window | None:
    """The time of what is wrong in a chain and some on either side, where it is much shorter than the whole.

    What is only worth knowing has none: nothing went wrong there.
    """
    wrong = [] if story is None else [one.finding for one in story.findings if one.finding.severity > Severity.info]
    times = [(one.since, one.until) for one in wrong if one.since is not None and one.until is not None]
    if not times:
        return None
    since, until = min(since for since, _ in times), max(until for _, until in times)
    more = max(1_000, int((until - since) * AROUND))
    since, until = max(since - more, window[0]), min(until + more, window[1])
    return (since, until) if 0 < (until - since) * CLOSER < window[1] - window[0] else None


def _merged(group: list[Timeline], window: Window | None) -> tuple[tuple[tuple[str, str, str], ...], int]:
    """Events of ids in words, in order of time, and how many are left out."""
    told: list[tuple[int, str, str]] = []
    more = 0
    for one in group:
        name = _name(one.transactional_id, one.producer_ids) if len(group) > 1 else ""
        events = [*islice(_events(one, window), MOST_TOLD + 1)]
        more += len(events) > MOST_TOLD
        told += [(at, name, says) for at, says in events[:MOST_TOLD]]
    told.sort(key=lambda event: event[0])
    return tuple(((iso(at) or "")[11:23] if at >= 0 else "", name, says) for at, name, says in told), more


def _events(timeline: Timeline, window: Window | None) -> Iterator[tuple[int, str]]:
    """Events of a window in words, with their times; of an id none of whose times is known all."""
    items = timeline.items
    for number in range(len(items)):
        at, until = int(items["at"][number]), int(items["until"][number])
        if window is None or (at <= window[1] and until >= window[0]):
            event: Event = timeline.event(number)
            yield at, printable(sentence(event))


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


def _row(member: Member, of_id: dict[object, list[Diagnosed]], most: int, end: int | None) -> MemberRow:
    found, told = _about(member.transactional_id, member.producer_ids, of_id), member.overview
    worst = max((one.finding.severity for one in found), default=None)
    begun, unkept, lost = share_paths(member, most)
    return MemberRow(
        name=_name(member.transactional_id, member.producer_ids),
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
