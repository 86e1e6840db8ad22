"""A timeline drawn with letters: as wide as there is room, and the same without colour."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from kafkatx.histories.pictures.lanes import LaneChart, lane_chart
from kafkatx.outputs.history_chart import HistoryChart, chart_of
from tests.histories.pictures.test_lanes import busy, timeline
from tests.rules.cluster import Cluster


def drawn(chart: LaneChart, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(HistoryChart(chart))
    return capture.get().splitlines()


def chart_over(folder: Path, instances: int = 2, each: int = 4) -> LaneChart:
    chart = lane_chart(timeline(busy(folder, instances, each)))
    assert chart is not None
    return chart


@pytest.mark.parametrize("width", [60, 80, 200])
def test_it_fills_the_width_and_no_more(tmp_path: Path, width: int) -> None:
    lines = drawn(chart_over(tmp_path), width)
    assert max(map(len, lines)) <= width
    assert len(lines[1].rstrip()) == width  # the last transaction is open, to the edge


def test_letters_stand_where_their_transactions_are(tmp_path: Path) -> None:
    first, second, axis, legend = drawn(chart_over(tmp_path), 80)
    assert first.startswith("   T1, producer id 7000, epoch 0")
    assert next(mark for mark in first[34:] if mark in "|=x>") == "|"
    assert set(first[34:]) <= set(" |=x")
    assert second.rstrip().endswith(">")
    assert second.index("|", 34) >= max(first.rindex("="), first.rindex("x"))
    assert axis.strip()
    assert legend.strip().split("   ") == ["= committed", "x aborted", "> open", "| start"]


def test_too_narrow_a_terminal_has_none(tmp_path: Path) -> None:
    assert not "".join(drawn(chart_over(tmp_path), 40)).strip()


def test_a_single_mark_is_not_worth_a_picture(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    assert not list(chart_of(lane_chart(timeline(cluster))))
    assert not list(chart_of(None))
