"""The pictures of a page, drawn capture by capture while its model is there: what is kept is what a template takes.

Chosen  ids and partitions of findings first, the worst first; then others as long as there is room. So the size of a
        page is bounded whatever the size of the cluster, and what is left out is counted.
Shared  ids of one chain of causes are lanes of one picture, in the order in which they began, and all pictures of a
        capture have one axis of time, which ends with the evidence. Around what went wrong one is drawn once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import islice

from kafkatx.findings.diagnosis import Diagnosed
from kafkatx.findings.finding import Finding
from kafkatx.histories.events import Event
from kafkatx.histories.overview import overview
from kafkatx.histories.pictures.crowd import Crowd, crowd
from kafkatx.histories.pictures.lanes import MOST_LANES, MOST_LOGS, LaneChart, lane_chart, reach
from kafkatx.histories.pictures.offsets import OffsetAxis, offset_axis
from kafkatx.histories.timeline import Timeline, book_of
from kafkatx.outputs.diagnosis_order import Story, stories
from kafkatx.outputs.history_answer import became
from kafkatx.outputs.history_words import sentence
from kafkatx.outputs.page.about import BySubject, about, by_subject, name_of
from kafkatx.outputs.page.drawing import Picture, axis_picture, timeline_picture
from kafkatx.outputs.page.members import Members, members
from kafkatx.stages.judging import CaptureDiagnosis, worst_first
from kafkatx.stages.models import JudgedCapture
from kafkatx.terms.printable import printable
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import iso
from kafkatx.terms.verdicts import Severity

MOST_IDS, MOST_OTHERS = 40, 8
"""Ids with findings that have a picture, and others, in a capture."""
MOST_TOGETHER = 12
"""Ids in one picture."""
MOST_PARTITIONS = 24
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
class CapturePictures:
    """The pictures of a capture; `groups` and `partitions` may hold fewer than there are: the rest is counted."""

    capture: str
    since: str
    until: str
    groups: tuple[GroupPictures, ...]
    more_ids: int
    partitions: tuple[Picture, ...]
    more_partitions: int
    members: Members

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
        of_id = by_subject(findings)
        axes = list(_axes(told, findings))
        groups = list(_Drawing(of_id, told.model.facts.evidence_end).groups(book.timelines(), told_in, findings))
        self.captures.append(
            CapturePictures(
                capture=printable(part.capture),
                since=_time(all_ids, 0),
                until=_time(all_ids, 1),
                groups=tuple(groups),
                more_ids=len(all_ids.members) - sum(len(group.ids) for group in groups),
                partitions=tuple(axis_picture(axis) for axis in axes[:MOST_PARTITIONS]),
                more_partitions=max(0, len(axes) - MOST_PARTITIONS),
                members=members(all_ids, of_id),
            )
        )


def _time(all_ids: Crowd, which: int) -> str:
    at = (all_ids.since, all_ids.until)[which]
    return (iso(at) or "")[:19].replace("T", " ")


def _chosen(timelines: Iterable[Timeline], of_id: BySubject, findings: list[Diagnosed]) -> Iterator[Timeline]:
    """The ids with findings, the worst first, of equally bad ones that which is told first; then others."""
    places = {one.id: at for at, one in enumerate(findings)}
    named: list[tuple[tuple[int, int], Timeline]] = []
    others: list[Timeline] = []
    for timeline in timelines:
        found = about(timeline.transactional_id, timeline.producer_ids, of_id)
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

    of_id: BySubject
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
        return about(timeline.transactional_id, timeline.producer_ids, self.of_id)

    def _group(self, group: list[Timeline], window: Window, story: Story | None) -> GroupPictures:
        around = _around(story, window)
        events, more = _merged(group, around)
        ids = tuple(self._told(one) for one in group)
        title = ", ".join(one.name for one in ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")
        return GroupPictures(
            ids=ids,
            whole=_drawn(f"{title}, from first to last", group, window, has_story=story is not None),
            close=None if around is None else _drawn(f"{title}, around what went wrong", group, around),
            events=events,
            more_events=more,
        )

    def _told(self, timeline: Timeline) -> IdTold:
        return IdTold(
            name_of(timeline.transactional_id, timeline.producer_ids),
            printable(became(timeline, overview(timeline), self.end)),
            tuple(one.id for one in self._about(timeline)),
        )


def _drawn(title: str, group: list[Timeline], window: Window, *, has_story: bool = True) -> Picture | None:
    """The picture of ids in a window, None where there is nothing to be seen in it.

    Of several ids of which there is nothing to tell each has one lane, whichever producers had it.
    """
    lanes, logs = MOST_LANES if has_story or len(group) == 1 else 1, max(1, MOST_LOGS // len(group))
    charts = [(name_of(one.transactional_id, one.producer_ids), lane_chart(one, *window, lanes, logs)) for one in group]
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
        name = name_of(one.transactional_id, one.producer_ids) if len(group) > 1 else ""
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
