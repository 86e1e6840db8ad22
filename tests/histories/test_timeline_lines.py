"""Lines of logs in timelines: whose they are, where they stand, and what of them is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.events import Event, Folded, Initialisation, LogLine, Transaction
from kafkatx.histories.folding import folded
from kafkatx.histories.initialisations import Why
from kafkatx.histories.overview import overview
from kafkatx.histories.timeline import Timeline, book_of
from kafkatx.histories.timeline_rows import Wanted
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import FENCED, KAFKA_EXCEPTION, Line, facts, line, with_logs
from tests.rules.cluster import MINUTE, SECOND, Cluster

ID = "orders-1"
APP, SERVER = "client-a.log", "broker-1/server.log"
NAMES = {"client_id": "a", "transactional_id": ID}


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    made = Cluster(tmp_path)
    made.init(ID, timeout_ms=10 * SECOND)
    made.run(ID, "orders-0")
    return made


def timeline(model: CaptureModel, name: str = ID, **limits: object) -> Timeline:
    (found,) = book_of(model, Wanted(transactional_id=name, **limits)).timelines()
    return found


def kinds(events: list[Event]) -> list[str]:
    """What each entry is: the kind of a line, the class of anything else."""
    return [event.kind.name if isinstance(event, LogLine) else type(event).__name__ for event in events]


def lines_of(events: list[Event]) -> list[LogLine]:
    return [event for event in events if isinstance(event, LogLine)]


def test_lines_stand_between_rows_by_time(cluster):
    started = cluster.clock
    cluster.begin(ID, "orders-0")
    cluster.time_out(ID)
    logs = [
        line(APP, started - 1, EventKind.client_started, **NAMES),
        line(SERVER, cluster.clock, EventKind.timeout_rollback, transactional_id=ID),
        line(APP, cluster.clock + SECOND, EventKind.to_fatal, error=FENCED, **NAMES),
        line(APP, cluster.clock + SECOND, EventKind.failure, thrown=[KAFKA_EXCEPTION, FENCED]),
    ]
    found = list(timeline(with_logs(cluster.model(), facts(logs))).events())
    assert kinds(found)[-4:] == ["client_started", "Transaction", "timeout_rollback", "to_fatal"]
    assert found[-1].lines == 2, "the application's line tells of the same failure"
    assert found[-1].failure.exception == FENCED


def test_a_line_never_stands_before_the_one_above_it_in_its_source(cluster):
    """Threads print a little out of order; the order of lines is the truth inside a source."""
    at = cluster.clock
    logs = [
        line(APP, at, EventKind.to_abortable, error=FENCED, **NAMES),
        line(APP, at - 3, EventKind.abort_called, **NAMES),
        line(APP, None, EventKind.client_closing, **NAMES),
    ]
    found = lines_of(list(timeline(with_logs(cluster.model(), facts(logs))).events()))
    assert kinds(found) == ["to_abortable", "abort_called", "client_closing"]
    assert [event.at for event in found] == [at, at - 3, None]


def test_lines_that_name_a_producer_id_only_belong_to_its_id(cluster):
    numbers = {"producer_id": cluster.ids[ID].producer_id, "producer_epoch": 0, "other_epoch": 2}
    logs = [line(SERVER, cluster.clock, EventKind.stale_epoch, topic="orders", partition=0, **numbers)]
    model = with_logs(cluster.model(), facts(logs))
    assert "stale_epoch" in kinds(list(timeline(model).events()))
    cluster.init("bills-1")
    assert kinds(list(timeline(with_logs(cluster.model(), facts(logs)), "bills-1").events())) == ["Initialisation"]


def test_a_grant_is_told_once_where_its_row_is_at_hand(cluster):
    numbers = {"producer_id": cluster.ids[ID].producer_id, "producer_epoch": 0}
    logs = [
        line(SERVER, cluster.clock, EventKind.initialized, transactional_id=ID, **numbers),
        line(SERVER, cluster.clock, EventKind.initialized, transactional_id=ID, **numbers | {"producer_epoch": 1}),
    ]
    (told,) = lines_of(list(timeline(with_logs(cluster.model(), facts(logs))).events()))
    assert told.line == 20


def test_what_a_producer_prints_for_every_transaction_is_not_told(cluster):
    logs = [
        line(APP, cluster.clock + number, kind, **NAMES)
        for number, kind in enumerate((EventKind.begin_called, EventKind.commit_called, EventKind.request_enqueued))
    ]
    assert not lines_of(list(timeline(with_logs(cluster.model(), facts(logs))).events()))


def test_an_id_that_only_logs_name_has_a_timeline(cluster):
    logs = [
        line(APP, cluster.clock, EventKind.producer_id_set, client_id="a", transactional_id="bills-1", producer_id=9),
        line(APP, cluster.clock + 5, EventKind.abort_called, client_id="a", transactional_id="bills-1"),
    ]
    model = with_logs(cluster.model(), facts(logs))
    names = [found.transactional_id for found in book_of(model).timelines()]
    assert names == ["bills-1", ID]
    told = timeline(model, "bills-1")
    assert kinds(list(told.events())) == ["producer_id_set", "abort_called"]
    assert told.producer_ids == [9]
    assert (overview(told).transactions, overview(told).instances) == (0, 0)
    (by_producer,) = book_of(model, Wanted(producer_id=9)).timelines()
    assert by_producer.transactional_id == "bills-1"


def test_lines_do_not_count_as_instances_and_hide_no_missing_rows(cluster):
    model = cluster.model()
    logs = [line(APP, cluster.clock - SECOND, EventKind.client_started, **NAMES)]
    with_lines, without = timeline(with_logs(model, facts(logs))), timeline(model)
    mine = [event for event in with_lines.events() if not isinstance(event, LogLine)]
    assert mine == list(without.events())
    assert overview(with_lines).instances == overview(without).instances == 1


def test_lines_that_repeat_are_told_as_one(cluster):
    at = cluster.clock
    retry = {"topic": "orders", "partition": 0, "error": "REQUEST_TIMED_OUT"} | NAMES
    logs = [line(APP, at + number, EventKind.produce_retry, **retry) for number in range(50)]
    logs.append(line(APP, at + 99, EventKind.abort_called, **NAMES))
    told = list(folded(timeline(with_logs(cluster.model(), facts(logs)))))
    (fold,) = [entry for entry in told if isinstance(entry, Folded)]
    assert (fold.log_lines, fold.log_kind, fold.transactions) == (50, EventKind.produce_retry, ())
    assert (fold.at, fold.until) == (at, at + 49)
    assert isinstance(told[-1], LogLine)


def test_times_are_moved_by_the_zone_and_not_by_skew(cluster):
    """Zone +08:00, 40 ms ahead: the clock is told with the timeline."""
    numbers = {"producer_id": cluster.ids[ID].producer_id, "producer_epoch": 0}
    began = cluster.model().initialisations["timestamp"][0]
    shift = 8 * 60 * MINUTE
    logs = [line(APP, int(began) + shift + 40, EventKind.producer_id_set, **numbers, **NAMES)]
    told = timeline(with_logs(cluster.model(), facts(logs)))
    (event,) = lines_of(list(told.events()))
    assert event.at == began + 40
    ((_, clock),) = told.clocks
    assert (clock.zone_ms, clock.skew_ms, clock.pairs) == (shift, 40, 1)


def test_limits_of_time_and_partition_hold_for_lines_too(cluster):
    at = cluster.clock
    logs = [
        line(APP, at, EventKind.produce_retry, topic="orders", partition=0, **NAMES),
        line(APP, at + 1, EventKind.produce_retry, topic="bills", partition=0, **NAMES),
        line(APP, at + MINUTE, EventKind.abort_called, **NAMES),
    ]
    model = with_logs(cluster.model(), facts(logs))
    assert len(lines_of(list(timeline(model, until=at + 5).events()))) == 2
    assert kinds(lines_of(list(timeline(model, topic="orders").events()))) == ["produce_retry", "abort_called"]
    assert not list(book_of(model, Wanted(transactional_id=ID, topic="elsewhere")).timelines())


def test_logs_say_for_certain_why_a_start_came(cluster):
    """After the coordinator's rollback, and after the client's own request for a new epoch."""
    cluster.begin(ID, "orders-0")
    cluster.time_out(ID)
    rolled_back = line(SERVER, cluster.clock, EventKind.timeout_rollback, transactional_id=ID)
    cluster.wait(MINUTE)
    cluster.empty(ID)
    cluster.begin(ID, "orders-0")
    cluster.abort(ID)
    known = cluster.ids[ID]
    numbers = {"producer_id": known.producer_id, "producer_epoch": known.epoch}
    bump = line(APP, cluster.clock, EventKind.init_bump, **numbers, **NAMES)
    cluster.wait(20)
    cluster.empty(ID)
    assert whys(cluster.model(), []) == [(Why.after_timeout, Verdict.likely), (Why.own_bump, Verdict.likely)]
    assert whys(cluster.model(), [rolled_back, bump]) == [
        (Why.after_timeout, Verdict.proved),
        (Why.own_bump, Verdict.proved),
    ]


def whys(model: CaptureModel, logs: list[Line]) -> list[tuple[Why, Verdict]]:
    """Why the second and the third Empty row were written."""
    found = [event for event in timeline(with_logs(model, facts(logs))).events() if isinstance(event, Initialisation)]
    return [(event.why, event.verdict) for event in found[1:]]


def test_a_client_whose_context_lies_tells_nothing_of_the_id_that_it_names(cluster):
    """Flink's sink: the bracket keeps the first id of the producer object."""
    first, other = cluster.ids[ID].producer_id, 77
    granted = {"transactional_id": "orders-2", "producer_id": other, "producer_epoch": 0}
    logs = [
        line(SERVER, cluster.clock, EventKind.initialized, **granted),
        line(APP, cluster.clock + 1, EventKind.producer_id_set, producer_id=other, producer_epoch=0, **NAMES),
        line(APP, cluster.clock + 9, EventKind.to_fatal, error=FENCED, **NAMES),
    ]
    model = with_logs(cluster.model(), facts(logs))
    assert first != other
    assert not lines_of(list(timeline(model).events()))
    assert kinds(list(timeline(model, "orders-2").events())) == ["initialized", "producer_id_set"]


def test_many_transactions_and_their_lines_stay_short(cluster):
    """A line or two for each of a hundred aborts: folded like the aborts themselves."""
    logs = []
    for _ in range(100):
        cluster.begin(ID, "orders-0")
        logs.append(line(APP, cluster.clock, EventKind.abort_called, **NAMES))
        cluster.abort(ID)
    told = timeline(with_logs(cluster.model(), facts(logs)))
    assert len(list(told.events())) > 200
    short = list(folded(told))
    assert len(short) <= 60
    assert sum(entry.log_lines for entry in short if isinstance(entry, Folded)) == 100
    assert any(isinstance(event, Transaction) for event in told.events())
    assert replace(short[-1], log_lines=0).count == short[-1].count - 100
