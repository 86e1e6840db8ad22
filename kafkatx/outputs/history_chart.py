"""A timeline drawn with letters, as wide as the terminal: a line a producer, a line a log, an axis of time.

Without colour the letters tell all: `=` committed, `x` aborted, `>` open. Where several fall on one place the worst
stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from kafkatx.histories.events import Outcome
from kafkatx.histories.pictures.lanes import LaneChart, TickKind
from kafkatx.outputs.chart_words import clock_note, lane_name, log_name, time_ticks
from kafkatx.terms.records import dataclass

INDENT, MOST_NAME, LEAST_AXIS = 3, 38, 20
LABEL = 14
"""Columns that a time of the axis takes, with the space behind it."""


@dataclass(frozen=True, slots=True)
class _Letter:
    """What stands for a kind of mark, how it is coloured, what it means; the later in LETTERS, the worse."""

    mark: str
    style: str
    says: str


LETTERS: dict[str, _Letter] = {
    TickKind.line: _Letter(".", "dim", "line of a log"),
    Outcome.committed: _Letter("=", "green", "committed"),
    Outcome.lost: _Letter("?", "dim", "end not read"),
    Outcome.aborted: _Letter("x", "yellow", "aborted"),
    Outcome.committing: _Letter("~", "red", "decided, not complete"),
    Outcome.aborting: _Letter("~", "red", "decided, not complete"),
    Outcome.open: _Letter(">", "red", "open"),
    TickKind.bump: _Letter("+", "cyan", "next epoch"),
    TickKind.expired: _Letter("#", "bold cyan", "id expired"),
    TickKind.start: _Letter("|", "bold cyan", "start"),
    TickKind.warning: _Letter("w", "yellow", "warning"),
    TickKind.error: _Letter("!", "bold red", "error"),
}
ORDER = tuple(LETTERS)


@dataclass(frozen=True)
class HistoryChart:
    """Draws a chart in the columns that there are; nothing where they are too few."""

    chart: LaneChart

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a line a lane, then the axis and what the letters mean."""
        chart = self.chart
        names = [lane_name(lane) for lane in chart.lanes]
        names += [" ".join(filter(None, (log_name(log), clock_note(log.clock)))) for log in chart.logs]
        gutter = min(MOST_NAME, max(map(len, names), default=0))
        width = options.max_width - INDENT - gutter - 2
        if width < LEAST_AXIS:
            return
        rows = self._rows(width)
        for name, row in zip(names, rows, strict=True):
            yield _line(name, gutter, row)
        yield Text(" " * (INDENT + gutter + 2) + self._axis(width), style="dim")
        used = {LETTERS[kind].mark: LETTERS[kind] for kind in ORDER if any(kind in row for row in rows)}
        legend = Text(" " * INDENT)
        for letter in used.values():
            legend.append(letter.mark, letter.style).append(f" {letter.says}   ", "dim")
        yield legend

    def _rows(self, width: int) -> list[list[str]]:
        """For each lane the kind of mark of each column, empty for none."""
        chart, place = self.chart, self._place(width)
        rows = [[""] * width for _ in (*chart.lanes, *chart.logs)]
        for bar in chart.bars:
            last = width - 1 if bar.end is None else place(bar.end)
            for column in range(place(bar.begin), last + 1):
                _paint(rows[bar.lane], column, bar.outcome)
        for tick in chart.ticks:
            _paint(rows[tick.lane], place(tick.at), tick.kind)
        for tick in chart.log_ticks:
            _paint(rows[len(chart.lanes) + tick.lane], place(tick.at), tick.kind)
        return rows

    def _place(self, width: int) -> Callable[[int], int]:
        """From a time to a column."""
        since, span = self.chart.since, self.chart.until - self.chart.since + 1
        return lambda at: min(max((at - since) * width // span, 0), width - 1)

    def _axis(self, width: int) -> str:
        """Times under their columns, as many as have room."""
        place, text = self._place(width), ""
        for at, label in time_ticks(self.chart.since, self.chart.until, max(2, width // LABEL)):
            column = place(at)
            if column >= len(text) + (1 if text else 0) and column + len(label) <= width:
                text = text.ljust(column) + label
        return text


def _paint(row: list[str], column: int, kind: str) -> None:
    """Let the worse of two marks stand."""
    if not row[column] or ORDER.index(kind) > ORDER.index(row[column]):
        row[column] = kind


def _line(name: str, gutter: int, row: list[str]) -> Text:
    short = name if len(name) <= gutter else f"{name[: gutter - 3]}..."
    line = Text(" " * INDENT + short.ljust(gutter) + "  ", no_wrap=True)
    for kind in row:
        line.append(LETTERS[kind].mark if kind else " ", LETTERS[kind].style if kind else "")
    return line


def chart_of(chart: LaneChart | None) -> Iterator[HistoryChart]:
    """Yield what draws a chart, nothing where there is next to nothing in it."""
    if chart is not None and not chart.is_bare and len(chart.bars) + len(chart.ticks) + len(chart.log_ticks) > 1:
        yield HistoryChart(chart)
