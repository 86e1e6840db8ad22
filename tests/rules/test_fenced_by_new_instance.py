"""fenced_by_new_instance: P3, P8 and what looks like them (the epoch table of KIP-98, KIP-360, KIP-890)."""

from pathlib import Path

import pytest

from kafkatx import diagnose
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.evidence import fixtures
from tests.rules.cluster import LAST_EPOCH, SECOND, START, TWO_PHASE, Cluster, replace_epoch
from tests.rules.log_told import CLIENT, Client, beside, only, rule

RULE = "fenced_by_new_instance"


def fenced(cluster: Cluster) -> None:
    """A healthy transaction, then a new instance over an open one of two records."""
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    cluster.begin("orders-1", "orders-0", records=2)
    cluster.wait(10 * SECOND)
    cluster.init("orders-1")


def words(finding) -> str:
    steps = [f"{step.text} {step.because or ''}" for step in finding.steps]
    return " ".join([*steps, *(considered.because for considered in finding.considered)])


def test_a_new_instance_over_an_open_transaction_fences_the_old_one(either):
    fenced(either)
    either.beat()
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.transactional_id, finding.topic, finding.partition) == ("orders-1", "orders", 0)
    assert (finding.verdict, finding.severity, finding.count) == (Verdict.likely, Severity.info, 1)
    assert finding.last_offset - finding.first_offset == 1
    assert told.rules == {RULE}


def test_the_new_epoch_is_two_above_that_of_the_fenced_data(either):
    fenced(either)
    finding = either.tell().only(RULE)
    new = f"epoch {finding.producer_epoch + 2}"
    assert new in finding.actors[1].what
    assert any(new in place.text for step in finding.steps for place in step.places)


def test_the_double_bump_of_4_0_0_is_a_fence_too(tmp_path: Path):
    cluster = Cluster(tmp_path, v2=True, double_bump=True)
    fenced(cluster)
    cluster.run("orders-1", "orders-0")
    told = cluster.tell()
    assert told.rules == {RULE}
    assert f"epoch {told.only(RULE).producer_epoch + 3}" in told.only(RULE).actors[1].what


def test_a_classic_client_on_a_v2_broker_is_fenced_like_any_other(v2):
    v2.init("orders-1", v2=False)
    v2.begin("orders-1", "orders-0")
    v2.init("orders-1", v2=False)
    assert v2.tell().rules == {RULE}


def test_a_fence_at_the_last_epoch_gives_the_new_instance_another_producer_id(classic):
    classic.init("orders-1")
    replace_epoch(classic, "orders-1", LAST_EPOCH)
    classic.begin("orders-1", "orders-0")
    classic.init("orders-1")
    told = classic.tell()
    assert told.rules == {RULE, "producer_epoch_exhausted"}
    assert "producer id 7001 epoch 0" in told.only(RULE).actors[1].what


def test_take_overs_within_a_minute_again_and_again_are_a_warning(either):
    either.init("orders-1")
    for _ in range(5):
        either.begin("orders-1", "orders-0")
        either.wait(10 * SECOND)
        either.init("orders-1")
    finding = either.tell().only(RULE)
    assert (finding.count, finding.severity) == (5, Severity.warning)
    assert len(finding.subjects) == 3


def test_take_overs_days_apart_are_deployments(either):
    either.init("orders-1")
    for _ in range(5):
        either.begin("orders-1", "orders-0")
        either.wait(10 * SECOND)
        either.init("orders-1")
        either.wait(24 * 3600 * SECOND)
    assert either.tell().only(RULE).severity is Severity.info


def test_an_operators_fence_is_told_by_its_timeout(either):
    either.init("orders-1", timeout_ms=60_000)
    either.begin("orders-1", "orders-0")
    either.init("orders-1", timeout_ms=30_000)
    finding = either.tell().only(RULE)
    assert "30 s" in words(finding)
    assert "forceTerminate" in words(finding)


def test_an_instance_of_the_usual_timeout_is_no_operator(either):
    fenced(either)
    assert "forceTerminate" not in words(either.tell().only(RULE))


def test_a_restart_with_nothing_open_fences_nobody(either):
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    either.wait(SECOND)
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    assert not either.tell().rules


def test_an_epoch_that_every_v2_transaction_raises_is_no_fence(v2):
    v2.init("orders-1")
    v2.run("orders-1", "orders-0", "payments-0", times=5)
    assert not v2.tell().rules


@pytest.mark.parametrize("pause", [50, 3 * SECOND, 600 * SECOND])
def test_a_timeout_followed_by_a_restart_is_a_timeout(either, pause):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.time_out("orders-1")
    either.wait(pause)
    either.init("orders-1")
    assert either.tell().rules == {"transaction_timed_out"}


def test_an_abort_by_the_client_is_not_a_fence(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.abort("orders-1")
    either.run("orders-1", "orders-0")
    assert either.tell().rules == {"aborted_by_client"}


def test_a_client_that_raises_its_own_epoch_after_an_abort_fences_nobody(classic):
    """KIP-360: PrepareAbort e, CompleteAbort e, Empty e+1 a moment later."""
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.abort("orders-1")
    classic.wait(100)
    classic.init("orders-1")
    classic.run("orders-1", "orders-0")
    assert classic.tell().rules == {"aborted_by_client"}


def test_frameworks_that_initialise_many_ids_fence_nobody(either):
    for number in range(20):
        either.init(f"connect-{number}")
        either.wait(20)
        either.init(f"connect-{number}")
    either.beat()
    assert not either.tell().rules


def test_a_two_phase_transaction_that_is_taken_over_after_days_is_fenced(either):
    either.init("sink-1", timeout_ms=TWO_PHASE)
    either.begin("sink-1", "orders-0")
    either.wait(3 * 24 * 3600 * SECOND)
    either.init("sink-1", timeout_ms=TWO_PHASE)
    assert either.tell().rules == {RULE}


def test_the_proposal_is_a_stable_id_and_never_a_random_one(either):
    fenced(either)
    again, remedy = either.tell().only(RULE).remedies
    assert again.text.startswith("Send the aborted records again")
    assert (remedy.config, remedy.current, remedy.where) == ("transactional.id", "orders-1", "application")
    assert "stable" in str(remedy.proposed)
    assert "Do not use a random id" in remedy.text
    assert remedy.command is None


def test_rows_that_end_before_the_new_instance_came_prove_no_fence_under_v2(v2):
    fenced(v2)
    log = v2.log("__transaction_state-0")
    log.keep(lambda batch: batch.next_offset < log.next_offset)
    told = v2.tell()
    assert not [finding for finding in told.diagnosis.findings if finding.finding.verdict is Verdict.proved]
    assert not told.of(RULE)


def test_rows_that_end_before_the_new_instance_came_leave_a_fence_likely_under_classic(classic):
    fenced(classic)
    log = classic.log("__transaction_state-0")
    log.keep(lambda batch: batch.next_offset < log.next_offset)
    assert classic.tell().only(RULE).verdict is Verdict.likely


def test_without_the_coordinators_log_nothing_is_proved(either):
    fenced(either)
    either.run("orders-1", "orders-0")
    del either.logs["__transaction_state-0"]
    told = either.tell()
    assert all(found.finding.verdict < Verdict.proved for found in told.diagnosis.findings)
    assert told.of(RULE) or told.not_checkable("aborted_by_client")


def test_under_transactions_v2_an_abort_of_its_own_is_not_ruled_out_by_the_classic_epoch():
    told = [one.finding for one in diagnose([fixtures() / "k4-tv2-fenced"]).findings if one.finding.rule == RULE]
    (other,) = (other for one in told for other in one.considered if other.rule == "aborted_by_client")
    assert "classic" not in other.because


STREAMS = "word-count-12960fdf-c0a3-4ef6-b001-d3120f15882a-1"


def started_again(tmp_path, path: str = CLIENT, aborts: bool = False, name: str = STREAMS):
    """A takeover under transactions v2 by a process whose log is at `path`; the old one's log breaks off before it."""
    cluster = Cluster(tmp_path, v2=True)
    cluster.init(name)
    old = Client(name).start(START, cluster.ids[name].producer_id, cluster.ids[name].epoch)
    cluster.run(name, "counts-0")
    cluster.begin(name, "counts-0")
    if aborts:
        old.aborts(cluster.clock + 50)
    cluster.wait(4 * SECOND)
    started = cluster.clock
    cluster.wait(SECOND)
    cluster.init(name)
    new = Client(name, path)
    new.say(started, EventKind.client_started, detail="transactional producer").say(started, EventKind.client_release,
                                                                                    detail="3.9.1")  # fmt: skip
    new.say(started, EventKind.init_called)
    new.given(cluster.clock, cluster.ids[name].producer_id, cluster.ids[name].epoch)
    cluster.wait(30 * SECOND)
    cluster.run(name, "counts-0")
    new.say(cluster.clock, EventKind.coordinator_found, api="transaction")
    return only(rule("fenced_by_new_instance"), beside(cluster, [*old.said, *new.said]))


def test_a_process_that_was_started_again_took_its_own_id_over(tmp_path):
    """Its log breaks off, has no abort, and goes on with the process that was given the epoch."""
    found = started_again(tmp_path)
    assert found.verdict is Verdict.proved
    assert found.title == "open transaction aborted by its restarted process"
    assert not [other for other in found.considered if not other.refuted]


@pytest.mark.parametrize(
    "how", [{"path": "elsewhere.log"}, {"name": "orders-1"}], ids=["another log", "no framework that closes it"]
)
def test_what_is_no_such_restart_stays_a_guess(tmp_path, how):
    found = started_again(tmp_path, **how)
    assert found.verdict is Verdict.likely
    left = {other.rule for other in found.considered if not other.refuted}
    assert {"aborted_by_client", "whether the old instance still lived"} <= left


def test_an_abort_in_that_log_is_no_restart(tmp_path):
    """A producer that aborts says so."""
    assert started_again(tmp_path, aborts=True).facts["restart"] is None
