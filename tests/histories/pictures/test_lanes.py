"""What is drawn of an id: every transaction in a bar, folded or not, on the lane of its producer."""

from collections import Counter
from pathlib import Path

import pytest

from kafkatx.histories.events import Outcome, Transaction
from kafkatx.histories.pictures import lanes
from kafkatx.histories.pictures.lanes import LaneChart, lane_chart
from kafkatx.histories.timeline import Timeline, book_of
from kafkatx.terms.events import Level
from tests.histories.log_facts import FENCED, facts
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import Client, beside

MOST = 20


def timeline(cluster: Cluster, name: str = "orders-1") -> Timeline:
    return next(one for one in book_of(cluster.model()).timelines() if one.transactional_id == name)


def drawn(one: Timeline, *window: int) -> LaneChart:
    chart = lane_chart(one, *window)
    assert chart is not None
    return chart


def busy(folder: Path, instances: int, each: int) -> Cluster:
    """An id with several producers, some of whose transactions were aborted; the last one is open."""
    cluster = Cluster(folder)
    for _ in range(instances):
        cluster.init("orders-1")
        for number in range(each):
            cluster.begin("orders-1", "orders-0")
            cluster.wait(SECOND)
            cluster.end("orders-1", number % 3 != 1)
    cluster.begin("orders-1", "orders-0")
    cluster.beat()
    return cluster


def outcomes(chart: LaneChart) -> Counter[Outcome]:
    found: Counter[Outcome] = Counter()
    for bar in chart.bars:
        found[bar.outcome] += bar.count
    return found


def test_a_bar_stands_for_each_transaction_with_its_outcome_and_times(tmp_path: Path) -> None:
    one = timeline(busy(tmp_path, 2, 4))
    told = [event for event in one.events() if isinstance(event, Transaction)]
    chart = drawn(one)
    assert [(bar.outcome, bar.begin, bar.event) for bar in chart.bars] == [(e.outcome, e.at, e) for e in told]
    assert [bar.end is None for bar in chart.bars] == [e.outcome is Outcome.open for e in told]
    assert [chart.lanes[bar.lane].number for bar in chart.bars] == [e.instance for e in told]
    assert [tick.lane for tick in chart.ticks] == [0, 1]


@pytest.mark.parametrize("most", [1, 5, 30])
def test_folded_bars_count_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    one = timeline(busy(tmp_path, 3, 12))
    whole = drawn(one)
    monkeypatch.setattr(lanes, "MOST_MARKS", most)
    monkeypatch.setattr(lanes, "BINS", MOST)
    folded = drawn(one)
    assert outcomes(folded) == outcomes(whole)
    assert len(folded.bars) < len(whole.bars)
    assert sum(tick.count for tick in folded.ticks) == len(whole.ticks)
    assert all(folded.since <= bar.begin <= (bar.end or folded.until) <= folded.until for bar in folded.bars)


def test_many_producers_share_one_lane(tmp_path: Path) -> None:
    chart = drawn(timeline(busy(tmp_path, lanes.MOST_LANES + 1, 1)))
    assert [(lane.number, lane.producers) for lane in chart.lanes] == [(0, lanes.MOST_LANES + 1)]
    assert {bar.lane for bar in chart.bars} == {0}


def test_a_window_holds_what_reaches_into_it(tmp_path: Path) -> None:
    one = timeline(busy(tmp_path, 1, 9))
    whole = drawn(one)
    third = whole.bars[3]
    chart = drawn(one, third.begin + 1, third.begin + 2)
    assert [bar.event for bar in chart.bars] == [third.event]
    assert lane_chart(one, whole.until + 10_000_000, whole.until + 10_000_001) is not None  # one is open still


def test_lines_of_logs_have_lanes_of_their_own(tmp_path: Path) -> None:
    cluster = busy(tmp_path, 1, 2)
    client = Client(path="a.log").start(START, cluster.ids["orders-1"].producer_id, 0)
    client.threw(START + SECOND, "commitTransaction", FENCED).threw(START + 2 * SECOND, "send", FENCED)
    model = beside(cluster, facts(client.said))
    chart = drawn(next(one for one in book_of(model).timelines() if one.transactional_id == "orders-1"))
    assert [log.path for log in chart.logs] == ["a.log"]
    assert {tick.lane for tick in chart.log_ticks} == {0}
    assert max(tick.level for tick in chart.log_ticks if tick.level is not None) is Level.error
