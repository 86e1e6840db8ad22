"""Timelines of clusters written down step by step, and of recorded ones: who raised an epoch, what is missing."""

import itertools
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from kafkatx.histories.endings import EndedBy, Protocol
from kafkatx.histories.events import (
    Event,
    Expiry,
    Folded,
    Idle,
    Initialisation,
    Leftover,
    LogLine,
    Outcome,
    ProtocolChange,
    RowsMissing,
    TimelineEntry,
    Transaction,
)
from kafkatx.histories.folding import folded
from kafkatx.histories.initialisations import Why
from kafkatx.histories.overview import overview
from kafkatx.histories.timeline import Timeline, book_of
from kafkatx.histories.timeline_rows import Wanted
from kafkatx.local.history import history
from kafkatx.stages.models import build_models, open_captures
from kafkatx.terms.verdicts import Verdict
from tests.evidence import broker_folders, fixture_cases, fixtures
from tests.rules.cluster import DAY, LAST_EPOCH, MINUTE, SECOND, Cluster, Empty, replace_epoch

ID = "orders-1"


@pytest.fixture
def classic(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


@pytest.fixture
def v2(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path, v2=True)


def timeline(cluster: Cluster, name: str | None = ID, wanted: Wanted | None = None) -> Timeline:
    (found,) = [line for line in book_of(cluster.model(), wanted).timelines() if line.transactional_id == name]
    return found


def events(cluster: Cluster, name: str | None = ID, wanted: Wanted | None = None) -> list[Event]:
    return list(timeline(cluster, name, wanted).events())


def starts(cluster: Cluster) -> list[tuple[Why, Verdict, int]]:
    return [
        (event.why, event.verdict, event.instance) for event in events(cluster) if isinstance(event, Initialisation)
    ]


def transactions(found: list[Event]) -> list[Transaction]:
    return [event for event in found if isinstance(event, Transaction)]


def recorded(case: str, name: str) -> list[Event]:
    (found,) = [line for line in history([fixtures() / case]) if line.transactional_id == name]
    return list(found.events())


def test_the_first_start_of_a_whole_log_is_proved(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    assert starts(classic) == [(Why.first_start, Verdict.proved, 1)]


def test_a_restart_with_nothing_open_is_a_new_instance(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.wait(5 * SECOND)
    classic.init(ID)
    assert starts(classic)[1] == (Why.restart, Verdict.likely, 2)


@pytest.mark.parametrize("is_v2", [False, True])
def test_a_takeover_of_an_open_transaction_is_told_with_the_verdict_of_its_ending(tmp_path, is_v2):
    cluster = Cluster(tmp_path, v2=is_v2)
    cluster.init(ID)
    cluster.begin(ID, "orders-0")
    cluster.wait(SECOND)
    cluster.init(ID)
    cluster.run(ID, "orders-0")
    assert starts(cluster)[1] == (Why.takeover, Verdict.likely, 2)
    ended = transactions(events(cluster))
    assert [(event.ended_by, event.instance) for event in ended] == [(EndedBy.new_instance, 1), (EndedBy.client, 2)]


def test_a_start_after_a_timeout_is_no_takeover(classic):
    classic.init(ID)
    classic.begin(ID, "orders-0")
    classic.time_out(ID)
    classic.wait(20 * SECOND)
    classic.init(ID)
    assert starts(classic)[1][0] is Why.after_timeout
    assert transactions(events(classic))[0].ended_by is EndedBy.timeout


def test_the_clients_own_bump_after_its_abort_begins_no_instance(classic):
    classic.init(ID)
    classic.begin(ID, "orders-0")
    classic.abort(ID)
    classic.empty(ID)
    classic.run(ID, "orders-0")
    assert starts(classic)[1] == (Why.own_bump, Verdict.likely, 1)
    assert transactions(events(classic))[1].instance == 1


def test_a_start_long_after_an_abort_is_no_bump_of_the_client(classic):
    classic.init(ID)
    classic.begin(ID, "orders-0")
    classic.abort(ID)
    classic.wait(MINUTE)
    classic.empty(ID)
    assert starts(classic)[1] == (Why.restart, Verdict.likely, 2)


def test_a_quick_start_after_an_abort_under_transactions_v2_is_no_bump_of_the_client(v2):
    v2.init(ID)
    v2.run(ID, "orders-0")
    v2.begin(ID, "orders-0")
    v2.abort(ID)
    v2.empty(ID)
    assert Why.own_bump not in [why for why, _, _ in starts(v2)]


def test_an_empty_row_at_an_unchanged_epoch_is_the_clients_retry_and_no_missing_row(v2):
    v2.init(ID)
    v2.begin(ID, "orders-0")
    v2.abort(ID)
    v2.store(ID, replace(v2.ids[ID], state=Empty, started_at=-1, partitions=(), version=0))
    v2.run(ID, "orders-0")
    assert starts(v2)[1] == (Why.own_bump, Verdict.likely, 1)


def test_an_epoch_that_was_left_out_says_that_rows_are_missing(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    known = classic.ids[ID]
    classic.store(ID, replace(known, epoch=known.epoch + 4, state=Empty, started_at=-1, partitions=(), version=0))
    assert starts(classic)[1][0] is Why.rows_between_missing


def test_a_new_producer_id_at_the_last_epoch_is_its_exhaustion(classic):
    classic.init(ID)
    replace_epoch(classic, ID, LAST_EPOCH)
    classic.run(ID, "orders-0")
    classic.init(ID)
    assert starts(classic)[-1] == (Why.exhausted, Verdict.proved, 2)


def test_a_new_producer_id_below_the_last_epoch_is_not_explained(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.store(
        ID, replace(classic.ids[ID], producer_id=9_999, epoch=0, started_at=-1, state=type(classic.ids[ID].state)(0))
    )
    assert starts(classic)[-1][:2] == (Why.new_producer_id, Verdict.possible)


def test_an_id_comes_back_after_its_tombstone(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.wait(7 * DAY)
    classic.expire(ID)
    classic.init(ID)
    found = events(classic)
    (expiry,) = [event for event in found if isinstance(event, Expiry)]
    assert 7 * DAY <= (expiry.idle_ms or 0) < 7 * DAY + MINUTE
    assert starts(classic)[-1] == (Why.back_after_expiry, Verdict.proved, 2)


def test_a_first_row_above_epoch_0_says_that_rows_are_gone(classic):
    classic.init(ID)
    replace_epoch(classic, ID, 5)
    assert starts(classic) == [(Why.rows_before_missing, Verdict.proved, 1)]


def test_a_log_that_begins_within_a_history_says_so_once(classic):
    classic.init(ID)
    classic.run(ID, "orders-0", times=2)
    log = classic.state_log(ID)
    log.batches = log.batches[1:]
    found = events(classic)
    assert isinstance(found[0], RowsMissing)
    assert [event.instance for event in transactions(found)] == [1, 1]
    assert not [event for event in found[1:] if isinstance(event, RowsMissing)]


def test_a_limit_of_time_renumbers_nothing_and_invents_no_missing_rows(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.wait(MINUTE)
    classic.init(ID)
    since = classic.clock
    classic.run(ID, "orders-0")
    found = events(classic, ID, Wanted(since=since + 1))
    assert [event.instance for event in transactions(found)] == [2]
    assert not [event for event in found if isinstance(event, RowsMissing)]


def test_an_open_transaction_began_before_a_limit_of_time_and_is_kept(classic):
    classic.init(ID)
    classic.begin(ID, "orders-0")
    classic.wait(MINUTE)
    classic.beat()
    (found,) = transactions(events(classic, ID, Wanted(since=classic.clock)))
    assert found.outcome is Outcome.open


def test_markers_partitions_and_their_wait_stand_in_the_transaction(classic):
    classic.init(ID)
    classic.begin(ID, "orders-0", "payments-0", records=3)
    classic.wait(SECOND)
    classic.prepare(ID, True)
    classic.wait(7)
    classic.marker(ID, "orders-0")
    classic.wait(30)
    classic.marker(ID, "payments-0")
    classic.complete(ID)
    (found,) = transactions(events(classic))
    assert (found.outcome, found.records, found.decision_to_last_marker_ms) == (Outcome.committed, 6, 37)
    assert [(part.topic, part.first_offset, part.last_offset) for part in found.parts] == [
        ("orders", 0, 2),
        ("payments", 0, 2),
    ]
    assert [part.marker and (part.marker.offset, part.marker.kind) for part in found.parts] == [
        (3, "COMMIT"),
        (3, "COMMIT"),
    ]


def test_a_decision_without_completion_is_told_as_such_with_the_marker_that_lacks(classic):
    classic.init(ID)
    classic.begin(ID, "orders-0", "payments-0")
    classic.prepare(ID, True)
    classic.marker(ID, "orders-0")
    (found,) = transactions(events(classic))
    assert found.outcome is Outcome.committing
    assert [part.marker is not None for part in found.parts] == [True, False]


def test_data_that_no_transaction_owns_stand_in_their_producers_timeline(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.late_data("orders-0", classic.ids[ID].producer_id, 0, 2)
    (left,) = [event for event in events(classic) if isinstance(event, Leftover)]
    assert (left.part.records, left.part.marker) == (2, None)


def test_a_producer_that_no_row_names_has_a_timeline_of_its_spans(classic):
    classic.late_data("orders-0", 4242, 3, 2)
    classic.log("orders-0").marker((4242, 3), True, 0, classic.clock + 5)
    classic.late_data("orders-0", 4242, 3, 1)
    line = timeline(classic, None)
    assert line.producer_ids == [4242]
    found = [event for event in line.events() if isinstance(event, Leftover)]
    assert [event.part.records for event in found] == [2, 1]
    assert (overview(line).open, overview(line).records) == (1, 3)


def test_a_change_to_transactions_v2_is_told_where_it_happens(tmp_path):
    cluster = Cluster(tmp_path, v2=True)
    cluster.init(ID, v2=False)
    cluster.run(ID, "orders-0")
    cluster.wait(SECOND)
    cluster.init(ID, v2=True)
    cluster.run(ID, "orders-0", times=2)
    found = events(cluster)
    (change,) = [event for event in found if isinstance(event, ProtocolChange)]
    assert (change.before, change.after) == (Protocol.classic, Protocol.v2)
    following = next(event for event in found[found.index(change) :] if isinstance(event, Transaction))
    assert following.protocol is Protocol.v2


def test_a_pause_that_stands_out_is_told_and_a_usual_one_is_not(classic):
    classic.init(ID)
    for pause in (15, 15, 15, 15, 15, 15, 600, 15):
        classic.wait(pause * SECOND)
        classic.run(ID, "orders-0")
    pauses = [event.until - event.at for event in events(classic) if isinstance(event, Idle)]
    assert [round(pause / SECOND) for pause in pauses] == [600]


def test_rows_of_the_coordinator_stay_in_the_order_of_their_log_when_its_clock_goes_back(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.clock -= 10 * SECOND
    classic.init(ID)
    classic.run(ID, "orders-0")
    kinds = [type(event) for event in events(classic)]
    assert kinds == [Initialisation, Transaction, Initialisation, Transaction]


def test_long_stretches_of_the_same_are_told_as_one(classic):
    classic.init(ID)
    classic.run(ID, "orders-0", times=20)
    classic.begin(ID, "orders-0")
    classic.abort(ID)
    classic.run(ID, "orders-0", times=5)
    found = list(folded(timeline(classic)))
    assert [type(entry) for entry in found] == [Initialisation, Folded, Transaction, Folded]
    assert [entry.count for entry in found if isinstance(entry, Folded)] == [20, 5]


def test_commits_and_aborts_in_turn_are_folded_harder_until_the_timeline_is_short(classic):
    classic.init(ID)
    for _ in range(40):
        classic.run(ID, "orders-0")
        classic.begin(ID, "orders-0")
        classic.abort(ID)
    (_, fold) = folded(timeline(classic))
    assert isinstance(fold, Folded)
    assert fold.transactions == ((Outcome.committed, EndedBy.client, 40), (Outcome.aborted, EndedBy.client, 40))


def test_what_stands_out_is_never_folded(classic):
    classic.init(ID)
    for _ in range(6):
        classic.begin(ID, "orders-0")
        classic.prepare(ID, True)
        classic.complete(ID)
    assert not [entry for entry in folded(timeline(classic), most=1) if isinstance(entry, Folded)]


def test_limits_of_partitions_keep_only_the_ids_that_touch_them(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.init("other")
    classic.run("other", "payments-0")
    book = book_of(classic.model(), Wanted(topic="payments"))
    assert [line.transactional_id for line in book.timelines()] == ["other"]


def test_a_producer_id_finds_the_id_that_had_it(classic):
    classic.init(ID)
    classic.run(ID, "orders-0")
    classic.init("other")
    classic.run("other", "orders-0")
    book = book_of(classic.model(), Wanted(producer_id=classic.ids["other"].producer_id))
    assert [line.transactional_id for line in book.timelines()] == ["other"]
    assert not len(book_of(classic.model(), Wanted(producer_id=1)))


def test_the_exchange_of_the_producer_id_within_an_end_is_in_the_transaction():
    (rotated,) = [
        event
        for event in transactions(recorded("k4-overflow", "metering-1"))
        if event.completed_producer_id != event.producer_id
    ]
    assert (rotated.producer_id, rotated.completed_producer_id, rotated.decision_epoch) == (1, 3, 32_767)


def test_a_compacted_log_says_that_rows_are_gone():
    first = next(event for event in recorded("k4-overflow", "orders-sink-0") if not isinstance(event, LogLine))
    assert isinstance(first, RowsMissing)
    assert first.by_compaction


@pytest.mark.parametrize("case", fixture_cases(), ids=lambda path: path.name)
def test_every_transaction_row_and_unowned_span_stands_in_exactly_one_timeline(case):
    for told in build_models(open_captures(broker_folders(case))):
        book = book_of(told.model)
        found = list(itertools.chain.from_iterable(line.events() for line in book.timelines()))
        assert sorted(event.row for event in transactions(found)) == list(range(len(told.model.transactions)))
        assert sum(isinstance(event, Leftover) for event in found) == int((told.model.parts.owner < 0).sum())
        assert sum(isinstance(event, Initialisation | Expiry) for event in found) == len(told.model.initialisations)


@pytest.mark.parametrize("case", fixture_cases(), ids=lambda path: path.name)
def test_a_folded_timeline_counts_what_the_whole_one_has(case):
    for line in history(broker_folders(case)):
        assert counted(folded(line, most=3)) == counted(line.events())


@pytest.mark.parametrize("case", ["k39-unresolved", "k4-librdkafka", "f-flink-sink"])
def test_a_folded_timeline_with_logs_counts_what_the_whole_one_has(case):
    for line in history([fixtures() / case]):
        assert counted(folded(line, most=3)) == counted(line.events())


def counted(entries: Iterable[TimelineEntry]) -> int:
    """How many things are told; of lines of logs all that one stands for."""
    found = 0
    for entry in entries:
        found += entry.count if isinstance(entry, Folded) else entry.lines if isinstance(entry, LogLine) else 0
        found += isinstance(entry, Transaction | Initialisation | Leftover | Expiry)
    return found
