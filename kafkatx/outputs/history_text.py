"""Histories for a person: a table of all ids, then each timeline as a model that can be read aloud."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafkatx.histories.events import Folded, Leftover, LogLine, Outcome, TimelineEntry, Transaction
from kafkatx.histories.folding import folded
from kafkatx.histories.overview import Overview, overview
from kafkatx.histories.result import CaptureHistory, Histories
from kafkatx.histories.timeline import Timeline
from kafkatx.outputs.history_words import PROTOCOLS, clock_line, details, sentence, span
from kafkatx.outputs.text_lines import coverage_lines, marked, print_trimmed, shown
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS, CLIENT_TOLERANCE_MS
from kafkatx.terms.events import Level, Side
from kafkatx.terms.times import clock, duration, iso
from kafkatx.terms.transaction_states import state_name
from kafkatx.words.evidence_refs import plural

FEW = 5
"""Up to so many ids are told in full behind the table."""
MOST_DETAILS = 8
"""Partitions told of one transaction."""
MOST_IN_TABLE = 1_000
"""Ids in the table; JSON has all."""


def print_histories(console: Console, histories: Histories, *, everything: bool = False, told: bool = False) -> None:
    """Print the table of ids, timelines where they are few or were asked for (`told`), and what was read.

    With `everything` nothing is folded and no table is cut short.
    """
    captures = [capture for capture in histories.captures if len(capture.book)]
    for capture in captures:
        if len(captures) > 1:
            print_trimmed(console, shown(f"Capture {capture.capture}", "bold"), Text(""))
        _print_capture(console, capture, everything, told)
    if not captures:
        print_trimmed(console, shown("No transaction lies within what was read and asked for."), Text(""))
    for damage in histories.damage[:20]:
        print_trimmed(console, marked("- ", damage.sentence()))
    print_trimmed(console, *coverage_lines(histories.coverage))


def _print_capture(console: Console, capture: CaptureHistory, everything: bool, told: bool) -> None:
    count = len(capture.book)
    if count > 1:
        print_trimmed(console, *_table(capture, everything), Text(""))
    if told or everything or count <= FEW:
        for timeline in capture.book.timelines():
            _print_timeline(console, capture, timeline, everything)
    else:
        print_trimmed(console, shown(f"{count:,} ids; --id TXID tells one of them, --all every one."), Text(""))


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
    found = overview(timeline)
    name = timeline.transactional_id
    last = iso(found.last_at) or "?"
    cells = [
        str(timeline.producer_ids[-1]) if timeline.producer_ids else "",
        "" if found.last_epoch is None else str(found.last_epoch),
        f"{found.instances:,}" if name is not None else "",
        f"{found.committed:,}",
        f"{found.aborted:,}",
        f"{found.open + found.unended:,}" if found.open + found.unended else "",
        f"{last[5:10]} {last[11:19]}" if len(last) > 1 else last,
    ]
    return [shown(name) if name is not None else shown("(no row names it)", "dim"), *map(shown, cells)]


def _print_timeline(console: Console, capture: CaptureHistory, timeline: Timeline, everything: bool) -> None:
    found = overview(timeline)
    print_trimmed(console, *_head(capture, timeline, found))
    date = ""
    for entry in timeline.events() if everything else folded(timeline):
        at = iso(entry.at)
        if at is not None and at[:10] != date:
            date = at[:10]
            print_trimmed(console, shown(f"   {date}", "dim"))
        print_trimmed(console, *_entry(entry, everything))
    print_trimmed(console, *_end(capture, timeline), Text(""))


def _head(capture: CaptureHistory, timeline: Timeline, found: Overview) -> Iterator[RenderableType]:
    if timeline.transactional_id is not None:
        yield shown(timeline.transactional_id, "bold")
    else:
        yield shown(f"producer id {timeline.producer_ids[0]}: no row at hand names its transactional.id", "bold")
    who = f"producer id{'s' if len(timeline.producer_ids) > 1 else ''} {_listed(timeline.producer_ids)}"
    if found.first_epoch is not None:
        who += (
            f", epoch {found.first_epoch}"
            if found.first_epoch == found.last_epoch
            else f", epochs {found.first_epoch} to {found.last_epoch}"
        )
    protocols = " and ".join(PROTOCOLS[protocol] for protocol in found.protocols)
    where = "" if timeline.state_partition is None else f"rows in __transaction_state-{timeline.state_partition}"
    yield _aside("; ".join(filter(None, (who, protocols, where))))
    yield _aside(_amount(found))
    for line in clock_lines(timeline):
        yield _aside(line)


def clock_lines(timeline: Timeline) -> Iterator[str]:
    """Say of the logs that a timeline quotes how their clocks lie to the brokers'."""
    logs = timeline.model.logs
    for source, clock_of in timeline.clocks:
        is_broker = logs.facts.sources[source].side == Side.broker
        tolerance = BROKERS_TOLERANCE_MS if is_broker else CLIENT_TOLERANCE_MS
        line = clock_line(logs.short_paths[source], clock_of, tolerance)
        if line is not None:
            yield line


def _listed(numbers: list[int]) -> str:
    """`1, 3`, or the first and the last of many."""
    return ", ".join(map(str, numbers)) if len(numbers) <= 4 else f"{numbers[0]}, {numbers[1]}, ..., {numbers[-1]}"


def _amount(found: Overview) -> str:
    aborts = ", ".join(f"{count:,} by {name.replace('_', ' ')}" for name, count in found.ended_by.items())
    parts = [
        plural(found.instances, "instance") if found.instances else "",
        f"{plural(found.transactions, 'transaction')}: {found.committed:,} committed, {found.aborted:,} aborted"
        if found.transactions
        else "",
        f"aborts: {aborts}" if len(found.ended_by) > 1 else "",
        f"{found.open + found.unended:,} not ended" if found.open + found.unended else "",
        plural(found.records, "record"),
    ]
    if not (found.instances or found.transactions or found.leftovers):
        return "neither rows nor data of it are at hand: logs alone tell"
    text = "; ".join(filter(None, parts))
    if found.shortest_ms is not None and found.longest_ms is not None:
        text += f"; {span(found.shortest_ms, found.longest_ms)} each"
    return text


def _entry(entry: TimelineEntry, everything: bool) -> Iterator[RenderableType]:
    time = "            " if entry.at is None else clock(entry.at)
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


def _end(capture: CaptureHistory, timeline: Timeline) -> Iterator[RenderableType]:
    """What is open at the end, what the id's latest row says, and how old both are."""
    for number in timeline.open_transactions.tolist():
        started = int(timeline.model.transactions["started_at"][number])
        age = duration(max(0, capture.evidence_end - started))
        yield _aside(f"Open at the end of the evidence: since {clock(started)}, for {age}.")
    latest = timeline.latest
    if latest is not None:
        at = int(latest["timestamp"])
        age = duration(max(0, capture.evidence_end - at))
        state = "a tombstone" if latest["state"] < 0 else state_name(int(latest["state"]))
        yield _aside(
            f"Latest row: {state} @ {int(latest['offset'])}, {clock(at)}, {age} before the end of the evidence."
        )


def _aside(text: str) -> RenderableType:
    return Padding(shown(text, "dim"), (0, 0, 0, 3))
