"""What is drawn of an id: every transaction in a bar, folded or not, on the lane of its producer."""

from collections import Counter
from pathlib import Path

import pytest

from kafkatx.histories.events import Outcome, Transaction
from kafkatx.histories.pictures import lanes
from kafkatx.histories.pictures.lanes import LaneChart, TickKind, lane_chart, reach
from kafkatx.histories.timeline import Timeline, book_of
from kafkatx.terms.events import EventKind, Level
from tests.histories.log_facts import FENCED, facts
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import Client, beside, by_logs

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
    assert TickKind.error in {tick.kind for tick in chart.log_ticks}


def by_lines(client: Client) -> LaneChart:
    """What is drawn of an id that logs alone tell of."""
    return drawn(next(book_of(by_logs(client.said)).timelines()))


def test_what_is_open_reaches_to_the_end_of_the_evidence(tmp_path: Path) -> None:
    cluster = busy(tmp_path, 1, 2)
    cluster.wait(600 * SECOND)
    cluster.beat()
    one = timeline(cluster)
    chart = drawn(one)
    assert chart.until == one.model.facts.evidence_end
    assert chart.until - chart.bars[-1].begin >= 600 * SECOND
    assert reach(one) == (chart.since, chart.until)


def test_what_has_ended_does_not(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    cluster.wait(600 * SECOND)
    cluster.beat()
    one = timeline(cluster)
    assert drawn(one).until < one.model.facts.evidence_end - 500 * SECOND


def test_a_decision_that_is_not_complete_goes_on_to_the_end(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    cluster.begin("orders-1", "orders-0")
    cluster.prepare("orders-1", True)
    cluster.wait(600 * SECOND)
    cluster.beat()
    (bar,) = drawn(timeline(cluster)).bars
    assert (bar.outcome, bar.end) == (Outcome.committing, None)
    assert drawn(timeline(cluster)).until - bar.begin >= 600 * SECOND


@pytest.mark.parametrize(
    ("level", "kind", "drawn_as"),
    [
        (Level.unknown, EventKind.failure, TickKind.error),
        (Level.info, EventKind.failure, TickKind.error),
        (Level.info, EventKind.to_abortable, TickKind.error),
        (Level.error, EventKind.node_disconnected, TickKind.error),
        (Level.warn, EventKind.produce_retry, TickKind.warning),
        (Level.unknown, EventKind.produce_retry, TickKind.line),
        (Level.info, EventKind.abort_called, TickKind.line),
        (Level.unknown, EventKind.producer_id_set, TickKind.line),
    ],
)
def test_a_line_is_drawn_by_what_it_tells(level: Level, kind: EventKind, drawn_as: TickKind) -> None:
    """A line without a level is no producer that got the id, and a failure is one however loud it was printed."""
    client = Client().start(START)
    client.say(START + SECOND, kind, level=level, error="NETWORK_EXCEPTION", calls=("send",), producer_id=7)
    last = by_lines(client).log_ticks[-1]
    assert (last.at, last.kind) == (START + SECOND, drawn_as)


@pytest.mark.parametrize("most", [1, 200])
def test_rows_that_are_no_start_are_not_drawn_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Only who got the id has a flag: not a producer that raised its own epoch, and not the id's end."""
    monkeypatch.setattr(lanes, "MOST_MARKS", most)
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    cluster.wait(8 * 86_400 * SECOND)
    cluster.expire("orders-1")
    cluster.beat()
    ticks = Counter(tick.kind for tick in drawn(timeline(cluster)).ticks)
    assert ticks == {TickKind.start: 1, TickKind.expired: 1}


def test_a_chart_of_one_moment_or_of_quiet_lines_shows_nothing() -> None:
    quiet = Client().say(START, EventKind.abort_called).say(START + SECOND, EventKind.abort_called)
    loud = Client().say(START, EventKind.abort_called).fatal(START + SECOND, FENCED)
    assert by_lines(quiet).is_bare
    assert by_lines(Client().fatal(START, FENCED)).is_bare
    assert not by_lines(loud).is_bare


def test_what_has_no_end_in_what_was_read_is_not_drawn_as_open(tmp_path: Path) -> None:
    """Nobody knows how long it went on: it is a mark where it began, not a bar to the end of the evidence."""
    cluster = Cluster(tmp_path)
    log = cluster.log("orders-0")
    log.data((9_000, 0), [START])
    log.marker((9_000, 0), True, 0, START + SECOND)
    log.data((9_000, 1), [START + 2 * SECOND])
    log.marker((9_000, 1), True, 0, START + 3 * SECOND)
    del log.batches[1]
    cluster.wait(600 * SECOND)
    cluster.beat()
    one = next(one for one in book_of(cluster.model()).timelines() if 9_000 in one.producer_ids)
    first, second = sorted(drawn(one).bars, key=lambda bar: bar.begin)
    assert (first.outcome, first.begin, first.end) == (Outcome.lost, START, START)
    assert second.outcome is Outcome.committed


def test_a_picture_of_many_ids_has_few_logs_of_each(tmp_path: Path) -> None:
    client, other = Client(path="quiet.log").aborts(START), Client(path="loud.log").fatal(START + SECOND, FENCED)
    one = next(book_of(by_logs([*client.said, *other.said])).timelines())
    chart = lane_chart(one, most_logs=1)
    assert chart is not None
    assert [log.path for log in chart.logs] == ["loud.log"]
