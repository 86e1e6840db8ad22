"""commit_outcome_unknown: every release's words, and what the coordinator's rows say became of the transaction."""

from pathlib import Path

import pytest

from kafkatx.findings.outcomes import FATES, TransactionFate
from kafkatx.local.diagnosis import diagnose
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, FENCED, KAFKA_EXCEPTION, TIMED_OUT, facts, settings
from tests.rules.cluster import MINUTE, SECOND, START, Cluster
from tests.rules.log_told import ERROR_STATE, Client, beside, by_logs, findings, only, rule

check = rule("commit_outcome_unknown")

ILLEGAL_STATE = "java.lang.IllegalStateException"
NO_ABORT = "Invalid transition attempted from state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION"
MUST_RETRY = "Cannot attempt operation `abortTransaction` because the previous call to `commitTransaction` timed out and must be retried"  # noqa: E501
COMMIT_3_S = "Timeout expired after 3000ms while awaiting EndTxn(true)"


def gave_up(at, text: str = COMMIT_3_S, call: str = "commitTransaction") -> Client:
    return Client().start("10:00:00").threw(at, call, TIMED_OUT, text)


@pytest.mark.parametrize(
    ("text", "exception", "refused"),
    [
        ("Timeout expired after 60000milliseconds while awaiting EndTxn(true)", KAFKA_EXCEPTION, NO_ABORT),
        ("Timeout expired after 60000 milliseconds while awaiting EndTxn(true)", KAFKA_EXCEPTION, NO_ABORT),
        ("Timeout expired after 60000ms while awaiting EndTxn(true)", ILLEGAL_STATE, NO_ABORT),
        ("Timeout expired after 60000ms while awaiting EndTxn(true)", ILLEGAL_STATE, MUST_RETRY),
    ],
    ids=["2.3-2.7", "2.8-3.1", "3.2", "3.3-4.3"],
)
def test_the_words_of_every_release_prove_it_and_tell_when_the_call_was_made(text, exception, refused):
    client = gave_up("10:01:30", text).aborts("10:01:30.1").threw("10:01:30.2", "abortTransaction", exception, refused)
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity, found.count) == (Verdict.proved, Severity.error, 1)
    assert found.until - found.since == 60_000
    assert "10:00:30.000" in found.steps[0].text
    assert any("refused" in step.text for step in found.steps)
    assert "abort_after_fatal_error" in {other.rule for other in found.considered}


def test_a_line_of_the_awaited_request_says_the_same():
    client = Client().start("10:00:00").say("10:01:30", EventKind.await_timeout, api="EndTxn(true)", number=60_000)
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.until - found.since) == (Verdict.proved, 60_000)


def test_a_refused_abort_alone_shows_it_and_max_block_tells_the_time_of_the_call():
    client = Client().start("10:00:00").threw("10:01:30", "abortTransaction", KAFKA_EXCEPTION, NO_ABORT)
    values = {"transactional.id": "orders-1", "max.block.ms": "20000"}
    given = facts(client.said, blocks=[settings("client.properties", "producer", values)])
    found = only(check, by_logs(given))
    assert (found.verdict, found.until - found.since) == (Verdict.proved, 20_000)


def test_the_same_commit_tried_again_is_one_attempt():
    client = Client().start("10:00:00")
    for second in (10, 13, 16, 19):
        client.threw(f"10:00:{second}", "commitTransaction", TIMED_OUT, COMMIT_3_S)
    found = only(check, by_logs(client.said))
    assert (found.count, found.until - found.since) == (1, 12_000)


def test_commits_apart_are_counted_and_lives_too():
    client = Client()
    for minute in (1, 2, 3):
        client.start(f"10:0{minute}:00").threw(f"10:0{minute}:30", "commitTransaction", TIMED_OUT, COMMIT_3_S)
        client.say(f"10:0{minute}:31", EventKind.client_closing)
    found = only(check, by_logs(client.said))
    assert (found.count, len(found.subjects)) == (3, 3)


def test_an_abort_that_gave_up_is_milder():
    found = only(check, by_logs(gave_up("10:01:30", COMMIT_3_S.replace("true", "false"), "abortTransaction").said))
    assert (found.severity, "abortTransaction" in found.summary) == (Severity.warning, True)


def test_an_interrupted_commit_is_unanswered_too():
    client = Client().start("10:00:00").threw("10:00:09", "commitTransaction", f"{ERRORS}InterruptException", "null")
    assert only(check, by_logs(client.said)).verdict is Verdict.proved


@pytest.mark.parametrize(
    ("call", "exception", "text"),
    [
        ("initTransactions", TIMED_OUT, "Timeout expired after 60000ms while awaiting InitProducerId"),
        ("send", TIMED_OUT, "Topic orders not present in metadata after 60000 ms."),
        ("flush", TIMED_OUT, "Expiring 3 record(s) for orders-0:4001 ms has passed since batch creation"),
        ("sendOffsetsToTransaction", TIMED_OUT, "Timeout expired after 60000ms while awaiting AddOffsetsToTxn"),
        ("commitTransaction", FENCED, "There is a newer producer with the same transactionalId"),
        ("commitTransaction", TIMED_OUT, "Expiring 3 record(s) for orders-0:4001 ms has passed since batch creation"),
        ("commitTransaction", ILLEGAL_STATE, "Invalid transition attempted from state READY to state COMMITTING"),
    ],
    ids=["coordinator_unavailable", "metadata", "flush", "offsets", "fenced", "unresolved_sequence", "shared_producer"],
)
def test_other_timeouts_and_definite_errors_are_not_it(call, exception, text):
    client = Client().start("10:00:00").threw("10:00:30", call, exception, text, wrapped=ERROR_STATE)
    assert not findings(check, by_logs(client.said))


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """An id that has committed once and began a transaction, in which the commit is called a second later."""
    made = Cluster(tmp_path)
    made.init("orders-1")
    made.run("orders-1", "orders-0")
    made.wait(10 * SECOND)
    return made


def resolved(cluster: Cluster, called: int, waited: int = 3_000) -> TransactionFate:
    """What the finding says became of the transaction; the client's log knows its producer id."""
    client = Client().start(START, producer_id=cluster.ids["orders-1"].producer_id)
    text = f"Timeout expired after {waited}ms while awaiting EndTxn(true)"
    client.threw(called + waited, "commitTransaction", TIMED_OUT, text)
    found = only(check, beside(cluster, client.said))
    assert (found.severity is Severity.error) == (not fate_in(found.summary).is_resolved)
    assert FATES[fate_in(found.summary)] in found.steps[-1].text.lower()
    return fate_in(found.summary)


def fate_in(summary: str) -> TransactionFate:
    return max((one for one in FATES if FATES[one] in summary), key=lambda one: len(FATES[one]))


def test_a_commit_that_came_through_is_found_in_the_rows(cluster):
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.wait(SECOND)
    cluster.commit("orders-1")
    assert resolved(cluster, called) is TransactionFate.committed


def test_a_commit_long_after_the_client_gave_up_is_the_same_transaction(cluster):
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.wait(40 * SECOND)
    cluster.commit("orders-1")
    assert resolved(cluster, called) is TransactionFate.committed


def test_a_transaction_that_timed_out_was_aborted(cluster):
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.time_out("orders-1")
    cluster.beat()
    assert resolved(cluster, called) is TransactionFate.aborted_by_timeout


def test_a_transaction_whose_rows_were_lost_behind_its_markers_was_committed(cluster):
    """The coordinator, its rows lost, aborts at the timeout what COMMIT markers had ended before."""
    cluster.begin("orders-1", "orders-0")
    called, known = cluster.clock, cluster.ids["orders-1"]
    cluster.log("orders-0").marker((known.producer_id, known.epoch), True, 0, cluster.clock)
    cluster.time_out("orders-1")
    cluster.beat()
    assert resolved(cluster, called) is TransactionFate.committed


def test_a_transaction_that_a_new_instance_took_over_was_aborted(cluster):
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.wait(5 * SECOND)
    cluster.init("orders-1")
    assert resolved(cluster, called) is TransactionFate.aborted_by_new_instance


def test_a_transaction_may_be_open_still(cluster):
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.wait(10 * SECOND)
    cluster.beat()
    assert resolved(cluster, called) is TransactionFate.open


def test_a_decision_without_completion_is_a_decision(cluster):
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.wait(SECOND)
    cluster.prepare("orders-1", True)
    assert resolved(cluster, called) is TransactionFate.committing


def of_a_commit_complete_after(cluster: Cluster, wait_ms: int):
    """The finding about a commit that was decided at once and whose markers came so much later."""
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.prepare("orders-1", True)
    cluster.wait(wait_ms)
    cluster.markers("orders-1", "orders-0")
    cluster.complete("orders-1")
    cluster.beat()
    client = Client().start(START, producer_id=cluster.ids["orders-1"].producer_id)
    client.threw(called + 3_000, "commitTransaction", TIMED_OUT, COMMIT_3_S)
    return only(check, beside(cluster, client.said))


def test_readers_get_a_commit_when_its_markers_are_there_not_when_it_is_decided(cluster):
    """So each row has its own time, and a call that waits must outlast the completion."""
    found = of_a_commit_complete_after(cluster, 80 * SECOND)
    told = found.facts["resolved"]
    assert told["readable_at"] > told["decided_at"]
    assert told["completed_at"] >= told["readable_at"]
    assert f"readers got it from {told['readable_at'][11:23]} on" in found.summary
    assert told["decided_at"][11:23] in (found.steps[-1].because or "")
    assert told["completed_at"][11:23] in (found.steps[-1].because or "")
    assert any("COMMIT marker" in place.text for place in found.steps[-1].places)
    longer = next(one for one in found.remedies if one.config == "max.block.ms")
    assert "80" in longer.derived_from
    assert int(longer.proposed) > 80_000


def test_a_commit_that_was_marked_at_once_needs_no_word_of_it(cluster):
    found = of_a_commit_complete_after(cluster, 0)
    assert found.facts["resolved"]["readable_at"] is None
    assert "readers got it" not in found.summary


def test_a_transaction_without_any_row_was_never_begun(cluster):
    cluster.wait(SECOND)
    called = cluster.clock
    cluster.wait(10 * SECOND)
    cluster.beat()
    assert resolved(cluster, called) is TransactionFate.never_begun


def test_a_previous_transaction_that_waits_for_its_markers_is_not_this_one(cluster):
    cluster.begin("orders-1", "orders-0")
    cluster.prepare("orders-1", True)
    cluster.wait(SECOND)
    called = cluster.clock
    cluster.wait(10 * SECOND)
    cluster.beat()
    assert resolved(cluster, called) is TransactionFate.never_begun


def test_rows_that_end_before_the_call_tell_nothing(cluster):
    called = cluster.clock + MINUTE
    assert resolved(cluster, called) is TransactionFate.unknown


def test_without_rows_markers_of_the_producer_id_tell(cluster):
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.wait(SECOND)
    cluster.commit("orders-1")
    cluster.state_log("orders-1").batches.clear()
    assert resolved(cluster, called) is TransactionFate.committed


def test_a_log_without_times_proves_the_fact_and_resolves_nothing(cluster):
    cluster.begin("orders-1", "orders-0")
    cluster.commit("orders-1")
    found = only(check, beside(cluster, Client().threw(None, "commitTransaction", TIMED_OUT, COMMIT_3_S).said))
    assert (found.verdict, fate_in(found.summary)) == (Verdict.proved, TransactionFate.unknown)


def test_a_client_whose_clock_is_ahead_is_set_back_by_what_both_saw(cluster):
    cluster.begin("orders-1", "orders-0")
    called = cluster.clock
    cluster.wait(SECOND)
    cluster.commit("orders-1")
    ahead = 30 * SECOND
    client = Client().start(START + ahead, producer_id=cluster.ids["orders-1"].producer_id)
    client.threw(called + ahead + 3_000, "commitTransaction", TIMED_OUT, COMMIT_3_S)
    assert fate_in(only(check, beside(cluster, client.said)).summary) is TransactionFate.committed


RULE = "commit_outcome_unknown"
WAITED = """\
Kafka {release}: the job does not come back from its commit.
[2017-10-12 11:15:{second},301] INFO [Transaction Coordinator 0]: Completed rollback ongoing transaction of \
transactionalId: bills-2 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)
2017-10-12 11:16:02,301 ERROR [main] {who}: commitTransaction did not return within {waited} (shop.Bills)
"""
OTHER_ID = (
    "[2017-10-12 11:15:01,001] INFO [Transaction Coordinator 0]: Initialized transactionalId bills-7 with producerId 3 "
    "and producer epoch 0 on partition __transaction_state-1 "
    "(kafka.coordinator.transaction.TransactionCoordinator)\n"
)
NAMED = "[Producer clientId=b, transactionalId=bills-2] commit"


@pytest.mark.parametrize("waited", ["60 s", "60000 ms", "60 seconds", "1 min"])
@pytest.mark.parametrize("who", ["commit of bills-2", NAMED])
def test_a_call_that_hung_is_linked_to_the_timeout_that_came_meanwhile(tmp_path, waited, who):
    path = tmp_path / "page.txt"
    path.write_text(WAITED.format(release="0.11.0.1", second="04", waited=waited, who=who))
    told = {one.finding.rule: one for one in diagnose([path]).findings}
    assert fate_in(told[RULE].finding.summary) is TransactionFate.aborted_by_timeout
    assert told[RULE].caused_by == told["transaction_timed_out"].id


def test_a_timeout_before_the_call_or_of_anybody_leaves_it_open(tmp_path):
    early, other = tmp_path / "early.txt", tmp_path / "other.txt"
    early.write_text(WAITED.format(release="0.11.0.1", second="04", waited="20 s", who=NAMED))
    other.write_text(WAITED.format(release="0.11.0.1", second="04", waited="60 s", who="commit") + OTHER_ID)
    for path in (early, other):
        told = {one.finding.rule: one for one in diagnose([path]).findings}
        assert fate_in(told[RULE].finding.summary) is TransactionFate.unknown
        assert told[RULE].caused_by is None
