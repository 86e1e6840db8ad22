"""aborted_by_client: P2, P6, P7, P11, P15 and what looks like them."""

from pathlib import Path

import pytest

from kafkatx import diagnose
from kafkatx.findings.finding import Finding
from kafkatx.rules.registry import judge
from kafkatx.terms.verdicts import Severity, Verdict
from tests.evidence import fixtures
from tests.histories.log_facts import ERRORS
from tests.rules.cluster import MINUTE, SECOND, Cluster
from tests.rules.log_told import Client, beside

RULE = "aborted_by_client"
STATE = "__transaction_state-0"
ABORTABLE = f"{ERRORS}TransactionAbortableException"


def rounds(cluster: Cluster, pattern: str) -> None:
    """Run transactions that commit (c) or abort (a)."""
    cluster.init("orders-1")
    for letter in pattern:
        cluster.begin("orders-1", "orders-0")
        cluster.end("orders-1", letter == "c")
        cluster.wait(SECOND)


def test_a_classic_abort_at_the_datas_own_epoch_is_proved(classic):
    rounds(classic, "cac")
    told = classic.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity, finding.count) == (Verdict.proved, Severity.info, 1)
    assert told.rules == {RULE}
    assert {considered.rule for considered in finding.considered} == {"transaction_timed_out", "fenced_by_new_instance"}
    assert [remedy.text[:13] for remedy in finding.remedies] == ["Nothing to do"]


def test_a_v2_producer_that_goes_on_under_the_raised_epoch_aborted_itself(v2):
    rounds(v2, "cac")
    finding = v2.tell().only(RULE)
    assert finding.verdict is Verdict.likely
    assert "EndTxn's answer" in finding.steps[1].because


def test_an_abort_that_no_ongoing_row_precedes_names_no_epoch_and_no_ongoing(v2):
    rounds(v2, "c")
    v2.abort("orders-1")
    v2.run("orders-1", "orders-0")
    finding = v2.tell().only(RULE)
    assert finding.actors[0].what.startswith("producer id 7000, in a transaction since")
    assert "Ongoing" not in finding.steps[0].because
    assert "epoch -1" not in f"{finding.actors} {finding.steps}"


def test_a_v2_abort_that_nobody_initialised_after_is_the_clients(v2):
    rounds(v2, "ca")
    v2.beat()
    finding = v2.tell().only(RULE)
    assert finding.verdict is Verdict.likely
    assert "no InitProducerId followed" in finding.steps[1].because


def test_a_v2_abort_at_the_very_end_of_the_rows_may_be_a_fence_whose_end_is_missing(v2):
    rounds(v2, "c")
    v2.begin("orders-1", "orders-0")
    v2.abort("orders-1")
    assert v2.tell().only(RULE).verdict is Verdict.possible


def test_an_abort_before_anything_was_sent_is_the_clients(v2):
    rounds(v2, "c")
    v2.abort("orders-1")
    v2.beat()
    assert v2.tell().rules == {RULE}


def test_an_old_client_on_a_v2_broker_keeps_its_epoch(v2):
    v2.init("orders-1", v2=False)
    v2.begin("orders-1", "orders-0")
    v2.abort("orders-1")
    finding = v2.tell().only(RULE)
    assert finding.verdict is Verdict.proved


def test_a_clients_own_bump_after_its_abort_changes_nothing(classic):
    """P6, KIP-360."""
    rounds(classic, "ca")
    classic.init("orders-1")
    classic.run("orders-1", "orders-0")
    assert classic.tell().rules == {RULE}


@pytest.mark.parametrize(
    ("pattern", "severity"),
    [
        ("ccca", Severity.info),
        ("acacac", Severity.info),
        ("caaac", Severity.warning),
        ("c" * 12 + "acacaca", Severity.info),
        ("ccccccacacacacac", Severity.warning),
        ("cacacacacacc" + "c" * 90, Severity.info),
    ],
    ids=["one", "few", "three in a row", "four of them", "five of sixteen", "five in a hundred"],
)
def test_the_rate_decides_the_severity(either, pattern, severity):
    rounds(either, pattern + "c")
    finding = either.tell().only(RULE)
    assert (finding.count, finding.severity) == (pattern.count("a"), severity)
    (remedy,) = finding.remedies
    assert remedy.text.startswith("Nothing to do") is (severity is Severity.info)


def test_a_fence_is_none(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.init("orders-1")
    assert not either.tell().of(RULE)


def test_a_timeout_is_none(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.time_out("orders-1")
    assert not either.tell().of(RULE)


def test_a_coordinators_abort_of_an_old_client_on_a_v2_broker_is_none(v2):
    v2.init("orders-1", v2=False)
    v2.begin("orders-1", "orders-0")
    v2.init("orders-1", v2=False)
    assert not v2.tell().of(RULE)


def test_an_abort_within_the_timeout_on_0_11_0_1_is_the_clients(tmp_path: Path):
    cluster = Cluster(tmp_path, identified=False, raises_epoch=False)
    rounds(cluster, "ca")
    assert cluster.tell().only(RULE).verdict is Verdict.proved


def test_an_abort_beyond_the_timeout_on_0_11_0_1_may_be_a_timeout(tmp_path: Path):
    cluster = Cluster(tmp_path, identified=False, raises_epoch=False)
    cluster.init("orders-1")
    cluster.begin("orders-1", "orders-0")
    cluster.time_out("orders-1")
    finding = cluster.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.possible, Severity.info)
    assert "KAFKA-6119" in finding.considered[0].because
    assert not finding.considered[0].refuted


def test_an_abort_that_the_coordinator_has_no_row_of_is_an_operators(either):
    """P15: kafka-transactions.sh abort ends a hanging transaction of one partition at the data's own epoch."""
    rounds(either, "c")
    known = either.ids["orders-1"]
    either.late_data("orders-0", known.producer_id, known.epoch, 2)
    either.wait(30 * MINUTE)
    either.log("orders-0").marker((known.producer_id, known.epoch), False, 0, either.clock)
    either.beat()
    told = either.tell()
    assert told.rules == {RULE}
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.info)
    assert "operator" in finding.summary


def test_an_abort_whose_rows_were_compacted_away_is_no_operators(classic):
    rounds(classic, "ac")
    log = classic.log(STATE)
    log.keep(lambda batch: batch.base_offset >= log.next_offset - 3)
    log.first_dirty = log.next_offset - 3
    finding = classic.tell().only(RULE)
    assert "operator" not in finding.summary
    assert (finding.verdict, finding.transactional_id) == (Verdict.likely, "orders-1")


def test_rows_that_the_cleaner_left_make_no_answer_worse(classic):
    """What the data alone tell of an abort they tell beside the last rows of its id, too."""
    rounds(classic, "cac")
    log = classic.log(STATE)
    log.keep(lambda batch: batch.next_offset == log.next_offset)
    log.first_dirty = log.next_offset
    beside = classic.tell().only(RULE)
    del classic.logs[STATE]
    alone = classic.tell().only(RULE)
    assert (beside.verdict, beside.first_offset) == (alone.verdict, alone.first_offset)
    assert (beside.transactional_id, alone.transactional_id) == ("orders-1", None)


def test_data_alone_make_a_classic_abort_likely_by_its_epoch(classic):
    """A COMMIT at the data's epoch shows the classic protocol; an ABORT at it is the client's or an operator's."""
    rounds(classic, "cac")
    del classic.logs[STATE]
    finding = classic.tell().only(RULE)
    assert (finding.verdict, finding.transactional_id, finding.producer_id) == (Verdict.likely, None, 7000)
    assert (finding.topic, finding.partition) == ("orders", 0)


def test_data_alone_say_nothing_of_an_abort_under_v2(v2):
    rounds(v2, "cac")
    del v2.logs[STATE]
    told = v2.tell()
    assert not told.rules
    assert "7000" in told.not_checkable(RULE)[0].scope


def test_an_abort_at_the_datas_own_epoch_needs_no_protocol(classic):
    """The coordinator's own aborts raise the epoch by either protocol: a client asked for it, or an operator."""
    rounds(classic, "a")
    del classic.logs[STATE]
    assert classic.tell().only(RULE).verdict is Verdict.likely


@pytest.mark.parametrize(
    ("waited", "rule", "verdict"),
    [
        (10 * SECOND, "fenced_by_new_instance", Verdict.likely),
        (65 * SECOND, "transaction_timed_out", Verdict.likely),
        (30 * MINUTE, "transaction_timed_out", Verdict.possible),
    ],
)
def test_data_alone_tell_a_fence_from_a_timeout_by_its_duration_only(classic, waited, rule, verdict):
    rounds(classic, "c")
    classic.begin("orders-1", "orders-0")
    classic.wait(waited)
    classic.end("orders-1", False, by_coordinator=True)
    classic.init("orders-1")
    classic.run("orders-1", "orders-0")
    del classic.logs[STATE]
    told = classic.tell()
    assert told.rules == {rule}
    assert told.only(rule).verdict is verdict
    assert {considered.rule for considered in told.only(rule).considered} >= (
        {"transaction_timed_out", "fenced_by_new_instance"} - {rule}
    )


SHOWN = (
    "2022-12-12 08:00:14 ERROR loader row 5001: could not convert string to float: 'n/a'",
    "%7|1670832014.377|TXNABORT|rdkafka#producer-1| [thrd:app]: Purging and flushing 0 outstanding message(s) prior to "
    "abort",
    "%7|1670832014.390|TXNCOMPLETE|rdkafka#producer-1| [thrd:main]: Transaction successfully aborted",
)
CLOSED = (
    "2024-02-20 03:00:00,101 INFO  [Producer clientId=p, transactionalId=files] ProducerId set to 2207 with epoch 31",
    "2024-02-20 03:00:00,224 INFO  [Producer clientId=p, transactionalId=files] Aborting incomplete transaction due to "
    "shutdown",
)


@pytest.mark.parametrize("lines", [SHOWN, CLOSED], ids=["no id", "by close"])
def test_aborts_that_somebody_shows_and_nothing_forced(lines, tmp_path):
    path = tmp_path / "page.md"
    path.write_text("\n".join((*lines, "")))
    (found,) = [one.finding for one in diagnose([path]).findings]
    assert (found.rule, found.verdict, found.severity) == (RULE, Verdict.likely, Severity.warning)


def test_an_abort_behind_a_failure_of_kafka_is_its_effect(tmp_path):
    fenced = (
        "%1|1670832014.300|TXNERR|rdkafka#producer-1| [thrd:main]: Fatal transaction error: Failed to end transaction"
    )
    path = tmp_path / "page.md"
    path.write_text("\n".join((f"{fenced}: Broker: Producer attempted an operation with an old epoch", *SHOWN, "")))
    assert RULE not in {one.finding.rule for one in diagnose([path]).findings}


def stranger(cluster: Cluster, *, says_abort_at: int | None) -> list[Finding]:
    """An abort at the producer's own epoch, 12 ms after the start; its client aborts half a minute later."""
    cluster.init("orders-1")
    cluster.wait(SECOND)
    cluster.begin("orders-1", "orders-0")
    began = cluster.clock
    cluster.wait(12)
    cluster.abort("orders-1")
    ended = cluster.clock
    client = Client("orders-1").start(began - SECOND, cluster.ids["orders-1"].producer_id)
    if says_abort_at is not None:
        client.aborts(began + says_abort_at)
    client.threw(ended + 30 * SECOND, "send", ABORTABLE).aborts(ended + 31 * SECOND)
    return judge(beside(cluster, client.said)).findings


def test_an_abort_that_the_clients_log_lacks_was_sent_by_somebody_else(classic):
    (found,) = (one for one in stranger(classic, says_abort_at=None) if one.rule == RULE)
    assert found.verdict is Verdict.likely
    assert "log shows no such call" in found.summary


def test_an_abort_that_the_clients_log_shows_is_its_own(classic):
    (found,) = (one for one in stranger(classic, says_abort_at=6) if one.rule == RULE)
    assert found.verdict is Verdict.proved


def test_what_a_leader_refuses_after_such_an_abort_is_its_effect():
    told = diagnose([fixtures() / "k4-partition-verification"]).findings
    (ended,) = (one for one in told if one.finding.rule == RULE)
    (refused,) = (one for one in told if one.finding.rule == "partition_verification_failed")
    assert (ended.caused_by, refused.caused_by) == (None, ended.id)
    assert "request log" in next(one.decided_by for one in refused.finding.considered if not one.refuted)


def test_an_abort_that_nobody_here_sent_is_a_warning_told_in_the_order_in_which_it_happened():
    """Work was thrown away; and a producer asks for its new epoch before the coordinator grants it."""
    told = diagnose([fixtures() / "k4-partition-verification"]).findings
    (ended,) = (one.finding for one in told if one.finding.rule == RULE)
    assert ended.severity is Severity.warning
    texts = [step.text for step in ended.steps]
    asked = next(number for number, text in enumerate(texts) if "asked for a new epoch" in text)
    assert "gave the id its next epoch" in texts[asked + 1]
