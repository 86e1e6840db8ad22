"""Histories for a person: what became of each id in one line, then the timelines, as a model that can be read aloud."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.text_walk import TELLING
from kafkatx.histories.events import Folded, Idle, Leftover, LogLine, Outcome, TimelineEntry, Transaction
from kafkatx.histories.folding import folded
from kafkatx.histories.overview import Overview, overview
from kafkatx.histories.pictures.lanes import lane_chart
from kafkatx.histories.result import CaptureHistory, Histories
from kafkatx.histories.timeline import Timeline
from kafkatx.histories.timeline_rows import LINE
from kafkatx.outputs.chart_words import SKEW_WORTH_TELLING_MS
from kafkatx.outputs.history_answer import became
from kafkatx.outputs.history_chart import chart_of
from kafkatx.outputs.history_words import PROTOCOLS, clock_line, details, is_zone_assumed, sentence, span
from kafkatx.outputs.text_lines import coverage_lines, marked, print_trimmed, shown
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS, CLIENT_TOLERANCE_MS
from kafkatx.terms.events import Level, Side
from kafkatx.terms.times import clock, duration, iso
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.transaction_states import state_name
from kafkatx.words.plurals import plural
from kafkatx.words.values import producer_name

FEW = 5
"""Up to so many ids are told in full; more are a table."""
MOST_DETAILS = 8
"""Partitions told of one transaction."""
MOST_IN_TABLE = 1_000
"""Ids in the table; JSON has all."""
MOST_DAMAGE = 20
"""Places of damage that are named."""
AGE_WORTH_TELLING_MS = 10_000
"""How old the last record of an id must be for its age to be told."""


def print_histories(
    console: Console, histories: Histories, *, everything: bool = False, told: bool = False, verbose: bool = False
) -> None:
    """Print what became of each id, timelines where they are few or were asked for (`told`), and what was read.

    With `everything` nothing is folded and no table is cut short; with `verbose` every file and all damage is named.
    """
    captures = [capture for capture in histories.captures if len(capture.book)]
    for capture in captures:
        if len(captures) > 1:
            print_trimmed(console, shown(f"Capture {capture.capture}", "bold"), Text(""))
        _print_capture(console, capture, everything, told, lacking=lacking_offsets(histories.coverage, capture.capture))
    if not captures:
        print_trimmed(console, shown("No transaction and no transactional.id in what was read."), Text(""))
    for damage in histories.damage[: len(histories.damage) if verbose else MOST_DAMAGE]:
        print_trimmed(console, marked("- ", damage.sentence()))
    print_trimmed(console, *coverage_lines(histories.coverage, verbose=verbose))


def _print_capture(console: Console, capture: CaptureHistory, everything: bool, told: bool, lacking: set[int]) -> None:
    count = len(capture.book)
    if told or everything or count <= FEW:
        if 1 < count <= FEW:
            print_trimmed(console, *(marked("- ", line) for line in _answers(capture)), Text(""))
        elif count > FEW:
            print_trimmed(console, *_table(capture, everything), Text(""))
        for timeline in capture.book.timelines():
            _print_timeline(console, capture, timeline, everything, timeline.state_partition not in lacking)
    else:
        print_trimmed(console, shown(f"{count:,} ids; --id TXID tells one of them, --all every one."), Text(""))
        print_trimmed(console, *_table(capture, everything), Text(""))


def lacking_offsets(coverage: Iterable[Coverage], capture: str) -> set[int]:
    """Partitions of __transaction_state of which a capture has only states that were printed without their offsets."""
    entries = [
        entry for entry in coverage if entry.capture == capture and entry.topic == TRANSACTION_STATE and entry.batches
    ]
    printed = {entry.partition for entry in entries if entry.note == TELLING}
    return {partition for partition in printed if partition is not None} - {
        entry.partition for entry in entries if entry.note != TELLING
    }


def _answers(capture: CaptureHistory) -> Iterator[str]:
    """What became of each id, a line an id."""
    for timeline in capture.book.timelines():
        yield f"{_name(timeline)}: {became(timeline, overview(timeline), capture.evidence_end)}"


def _name(timeline: Timeline) -> str:
    name = timeline.transactional_id
    return name if name is not None else producer_name(None, timeline.producer_ids[0])


def _table(capture: CaptureHistory, everything: bool) -> Iterator[RenderableType]:
    """All ids, one line each."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("transactional.id", ratio=1, overflow="fold")
    for name in ("producer", "epoch", "starts", "commits", "aborts", "open"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("last", no_wrap=True)
    count, most = len(capture.book), len(capture.book) if everything else MOST_IN_TABLE
    for timeline in islice(capture.book.timelines(), most):
        table.add_row(*_cells(timeline))
    yield table
    if count > most:
        yield shown(f"and {count - most:,} more; --all lists them")


def _cells(timeline: Timeline) -> list[Text]:
    """Cells of the table; blank where nothing can be known."""
    found, is_named = overview(timeline), timeline.transactional_id is not None
    last, has_ends = iso(found.last_at) or "", bool(found.transactions)
    cells = [
        str(timeline.producer_ids[-1]) if is_named and timeline.producer_ids else "",
        "" if found.last_epoch is None else str(found.last_epoch),
        f"{found.instances:,}" if found.instances else "",
        f"{found.committed:,}" if has_ends else "",
        f"{found.aborted:,}" if has_ends else "",
        f"{found.open + found.unended:,}" if found.open + found.unended else "",
        f"{last[5:10]} {last[11:19]}".strip(),
    ]
    return [shown(_name(timeline), "" if is_named else "dim"), *map(shown, cells)]


def _print_timeline(
    console: Console, capture: CaptureHistory, timeline: Timeline, everything: bool, has_offsets: bool
) -> None:
    print_trimmed(console, *_head(capture, timeline, overview(timeline), everything))
    print_trimmed(console, *chart_of(lane_chart(timeline)))
    date, zone = "", "" if _has_assumed_zone(timeline) else " UTC"
    for entry in timeline.events() if everything else folded(timeline):
        at = iso(entry.at)
        if at is not None and at[:10] != date:
            date = at[:10]
            print_trimmed(console, shown(f"   {date}{zone}", "dim"))
        print_trimmed(console, *_entry(entry, everything))
    print_trimmed(console, *_end(capture, timeline, has_offsets), Text(""))


def _has_assumed_zone(timeline: Timeline) -> bool:
    """Whether times of the timeline may be of another zone than it seems."""
    return any(is_zone_assumed(clock_of, _has_rows(timeline)) for _, clock_of in timeline.clocks)


def _has_rows(timeline: Timeline) -> bool:
    """Whether more than logs tell of it."""
    return bool((timeline.items["kind"] != LINE).any())


def _head(capture: CaptureHistory, timeline: Timeline, found: Overview, everything: bool) -> Iterator[RenderableType]:
    yield shown(f"{_name(timeline)}: {became(timeline, found, capture.evidence_end)}", "bold")
    protocols = " and ".join(PROTOCOLS[protocol] for protocol in found.protocols)
    where = "" if timeline.state_partition is None else f"records in __transaction_state-{timeline.state_partition}"
    nameless = "no record names its transactional.id" if timeline.transactional_id is None else ""
    for line in ((_who(timeline, found), protocols, where or nameless), (*_amount(timeline, found),)):
        if any(line):
            yield _aside("; ".join(filter(None, line)))
    for text in clock_lines(timeline, everything):
        yield _aside(text)


def _who(timeline: Timeline, found: Overview) -> str:
    """`producer id 1, epochs 0 to 2`."""
    ids, first, last = timeline.producer_ids, found.first_epoch, found.last_epoch
    name = f"producer id{'s' if len(ids) > 1 else ''} {_listed(ids)}" if timeline.transactional_id is not None else ""
    if not ids or first is None or last is None:
        return name if ids else ""
    if len(ids) > 1:
        return f"{name}, last epoch {last}"
    return ", ".join(filter(None, (name, f"epoch {first}" if first == last else f"epochs {first} to {last}")))


def clock_lines(timeline: Timeline, everything: bool = True) -> Iterator[str]:
    """Say of the logs that a timeline quotes how their clocks lie to the brokers'.

    Clocks that are right as far as a reader cares are left out unless `everything` is wanted.
    """
    logs, has_rows = timeline.model.logs, _has_rows(timeline)
    for source, clock_of in timeline.clocks:
        is_broker = logs.facts.sources[source].side == Side.broker
        tolerance = BROKERS_TOLERANCE_MS if is_broker else CLIENT_TOLERANCE_MS
        line = clock_line(_source_name(timeline, source), clock_of, tolerance, has_rows)
        is_right = not clock_of.zone_ms and not is_zone_assumed(clock_of, has_rows)
        if line is not None and (everything or not is_right or abs(clock_of.skew_ms or 0) >= SKEW_WORTH_TELLING_MS):
            yield line


def _source_name(timeline: Timeline, source: int) -> str:
    """Short path of a log; with the line where a piece of it begins if one file is several."""
    logs, items = timeline.model.logs, timeline.items
    path = logs.facts.sources[source].path
    if sum(logs.facts.sources[other].path == path for other, _ in timeline.clocks) == 1:
        return logs.short_paths[source]
    events = logs.events[items["row"][items["kind"] == LINE]]
    return f"{logs.short_paths[source]}, from line {int(events['line'][events['source'] == source].min())}"


def _listed(numbers: list[int]) -> str:
    """`1, 3`, or the first and the last of many."""
    return ", ".join(map(str, numbers)) if len(numbers) <= 4 else f"{numbers[0]}, {numbers[1]}, ..., {numbers[-1]}"


def _amount(timeline: Timeline, found: Overview) -> Iterator[str]:
    """What its transactions hold; nothing of what was not read."""
    if not _has_rows(timeline):
        yield "known from logs only: neither its records of __transaction_state nor its data were read"
    if found.instances > 1:
        yield plural(found.instances, "instance")
    if found.records:
        yield plural(found.records, "record")
    if found.shortest_ms is not None and found.longest_ms is not None:
        yield f"transactions took {span(found.shortest_ms, found.longest_ms)}"


def _entry(entry: TimelineEntry, everything: bool) -> Iterator[RenderableType]:
    time = "            " if entry.at is None or isinstance(entry, Idle) else clock(entry.at)
    yield marked(f"{time}  ", sentence(entry), _style(entry), indent=3, mark_style="dim")
    lines = list(details(entry))
    shown_lines = lines if everything else lines[:MOST_DETAILS]
    for line in shown_lines:
        yield marked("- ", line, "dim", indent=17)
    if len(lines) > len(shown_lines):
        yield marked("- ", f"and {plural(len(lines) - len(shown_lines), 'more partition')}", "dim", indent=17)


def _style(entry: TimelineEntry) -> str:
    if isinstance(entry, Transaction):
        return {Outcome.committed: "green", Outcome.aborted: "yellow"}.get(entry.outcome, "red")
    if isinstance(entry, Leftover):
        return "yellow" if entry.part.marker else "red"
    if isinstance(entry, LogLine):
        return "yellow" if entry.level >= Level.error else "dim" if entry.level <= Level.info else ""
    return "green" if isinstance(entry, Folded) else ""


def _end(capture: CaptureHistory, timeline: Timeline, has_offsets: bool) -> Iterator[RenderableType]:
    """What the id's latest record says, and how old it is."""
    latest = timeline.latest
    if latest is not None:
        at, state = int(latest["timestamp"]), int(latest["state"])
        text = f"Last record: {'tombstone' if state < 0 else state_name(state)}"
        text += f" @ {int(latest['offset'])}" if has_offsets else ""
        text += f", {clock(at)}" if iso(at) is not None else ""
        since = capture.evidence_end - at
        is_old = iso(at) is not None and since >= AGE_WORTH_TELLING_MS
        yield _aside(f"{text}, {duration(since)} before the end of the evidence." if is_old else f"{text}.")


def _aside(text: str) -> RenderableType:
    return Padding(shown(text, "dim"), (0, 0, 0, 3))
