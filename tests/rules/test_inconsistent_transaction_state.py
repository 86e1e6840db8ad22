"""inconsistent_transaction_state: rows no coordinator writes. No recorded case holds one, so all of these are made."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.terms.verdicts import Severity, Verdict
from tests.evidence import FIXTURES
from tests.rules.cluster import (
    DAY,
    MINUTE,
    SECOND,
    Cluster,
    CompleteAbort,
    CompleteCommit,
    Dead,
    Empty,
    Ongoing,
    PrepareCommit,
    PrepareEpochFence,
)

RULE = "inconsistent_transaction_state"
STATE = "__transaction_state-0"


def healthy(cluster: Cluster) -> None:
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    cluster.begin("orders-1", "orders-0", "payments-0")


def store(cluster: Cluster, **changes: object) -> None:
    cluster.store("orders-1", replace(cluster.ids["orders-1"], **changes))  # type: ignore[arg-type]


def twice_prepared(cluster: Cluster) -> None:
    store(cluster, state=PrepareCommit)
    store(cluster, state=Ongoing)


def completed_at_once(cluster: Cluster) -> None:
    store(cluster, state=CompleteCommit, partitions=())


def aborted_after_a_commit(cluster: Cluster) -> None:
    store(cluster, state=PrepareCommit)
    store(cluster, state=CompleteAbort, partitions=())


def forgotten_while_open(cluster: Cluster) -> None:
    cluster.expire("orders-1")


def lower_epoch(cluster: Cluster) -> None:
    cluster.init("orders-1")
    cluster.init("orders-1")
    store(cluster, epoch=0)


def higher_epoch_by_far(cluster: Cluster) -> None:
    cluster.commit("orders-1")
    store(cluster, state=Empty, partitions=(), started_at=-1, epoch=cluster.ids["orders-1"].epoch + 9)


def higher_epoch_inside_a_transaction(cluster: Cluster) -> None:
    store(cluster, epoch=cluster.ids["orders-1"].epoch + 1)


def another_start(cluster: Cluster) -> None:
    store(cluster, started_at=cluster.ids["orders-1"].started_at + 1)


def fewer_partitions(cluster: Cluster) -> None:
    store(cluster, partitions=("payments-0",))


def never_started(cluster: Cluster) -> None:
    store(cluster, state=PrepareCommit, started_at=-1)
    store(cluster, state=CompleteCommit, started_at=-1, partitions=())


def no_partitions(cluster: Cluster) -> None:
    cluster.commit("orders-1")
    store(cluster, state=Ongoing, partitions=(), started_at=cluster.clock)


def dead(cluster: Cluster) -> None:
    cluster.commit("orders-1")
    store(cluster, state=Dead)


def epoch_fence(cluster: Cluster) -> None:
    store(cluster, state=PrepareEpochFence)


ILLEGAL = {
    twice_prepared: "can't follow",
    completed_at_once: "can't follow",
    aborted_after_a_commit: "can't follow",
    forgotten_while_open: "can't follow",
    lower_epoch: "lower epoch",
    higher_epoch_by_far: "no known operation",
    higher_epoch_inside_a_transaction: "no known operation",
    another_start: "another start",
    fewer_partitions: "fewer partitions",
    never_started: "never started",
    no_partitions: "without partitions",
    dead: "never written",
    epoch_fence: "never written",
}


@pytest.mark.parametrize(("damage", "words"), ILLEGAL.items(), ids=[damage.__name__ for damage in ILLEGAL])
def test_what_no_coordinator_writes_is_told(either, damage: Callable[[Cluster], None], words):
    healthy(either)
    damage(either)
    finding = either.tell().only(RULE)
    assert words in finding.summary + " ".join(step.text for step in finding.steps)
    assert (finding.transactional_id, finding.severity) == ("orders-1", Severity.error)
    assert finding.verdict is (Verdict.likely if words == "no known operation" else Verdict.proved)
    assert finding.topic == "__transaction_state"
    assert "Keep the files" in finding.remedies[0].text


def test_rows_with_a_hole_between_them_say_nothing(either):
    healthy(either)
    completed_at_once(either)
    log = either.log(STATE)
    log.batches.pop(-2)
    assert not either.tell().of(RULE)


def test_rows_below_the_cleaners_mark_leave_it_possible(either):
    healthy(either)
    another_start(either)
    either.log(STATE).first_dirty = either.log(STATE).next_offset
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.possible, Severity.warning)


def test_a_compacted_log_is_consistent(either):
    """Of each id only the last row is left, and what came behind the cleaner's mark."""
    for name in ("a-1", "a-2", "a-3"):
        either.init(name)
        either.run(name, "orders-0", times=2)
    log = either.log(STATE)
    log.keep(lambda batch: batch.next_offset % 7 == 0)
    log.first_dirty = log.next_offset
    for name in ("a-1", "a-2", "a-3"):
        either.run(name, "orders-0")
    assert not either.tell().of(RULE)


def restarts(cluster: Cluster) -> None:
    cluster.commit("orders-1")
    cluster.init("orders-1")
    cluster.init("orders-1")


def fence(cluster: Cluster) -> None:
    cluster.init("orders-1")


def timeout(cluster: Cluster) -> None:
    cluster.time_out("orders-1")


def more_partitions(cluster: Cluster) -> None:
    cluster.ongoing("orders-1", "prices-0", "prices-1")


def row_written_twice(cluster: Cluster) -> None:
    store(cluster)


def decision_written_twice(cluster: Cluster) -> None:
    store(cluster, state=PrepareCommit)
    store(cluster)


def expiry(cluster: Cluster) -> None:
    cluster.commit("orders-1")
    cluster.wait(8 * DAY)
    cluster.expire("orders-1")
    cluster.init("orders-1")


LEGAL = (restarts, fence, timeout, more_partitions, row_written_twice, decision_written_twice, expiry)


@pytest.mark.parametrize("run", LEGAL, ids=lambda run: run.__name__)
def test_what_coordinators_do_is_consistent(either, run: Callable[[Cluster], None]):
    healthy(either)
    run(either)
    either.wait(MINUTE)
    either.beat()
    assert not either.tell().of(RULE)


def test_a_completion_written_again_after_a_failover_is_consistent(either):
    healthy(either)
    either.commit("orders-1")
    either.coordinator_epoch = 1
    store(either)
    either.run("orders-1", "orders-0")
    assert not either.tell().rules


def test_the_double_bump_of_4_0_0_is_consistent(tmp_path):
    cluster = Cluster(tmp_path, v2=True, double_bump=True)
    healthy(cluster)
    cluster.init("orders-1")
    cluster.begin("orders-1", "orders-0")
    cluster.time_out("orders-1")
    assert not cluster.tell().of(RULE)


def test_an_abort_of_no_partition_is_consistent_under_v2_only(tmp_path):
    clusters = ((Cluster(tmp_path / "v2", v2=True), False), (Cluster(tmp_path / "classic"), True))
    for cluster, is_odd in clusters:
        cluster.init("orders-1")
        cluster.run("orders-1", "orders-0")
        cluster.wait(SECOND)
        cluster.abort("orders-1")
        assert bool(cluster.tell().of(RULE)) is is_odd


def test_a_torn_end_is_damage_and_no_inconsistency(either):
    healthy(either)
    either.log(STATE).tear()
    told = either.tell()
    assert not told.of(RULE)
    assert told.diagnosis.damage


def test_a_list_without_epochs_beside_a_description_with_one_is_no_lower_epoch():
    told = diagnose([FIXTURES / "answers/stuck"])
    assert {found.finding.rule for found in told.findings} == {"stuck_prepare"}


def test_states_that_do_not_follow_each_other_are_named():
    page = FIXTURES / "pages" / "dump" / "prepare_follows_complete_without_ongoing.md"
    (found,) = (one.finding for one in diagnose([page]).findings)
    assert "@71 CompleteCommit is followed by @72 PrepareCommit" in found.title
    assert [place.text.partition(":")[0] for place in found.places()] == [
        "CompleteCommit, the record before",
        "PrepareCommit",
    ]
