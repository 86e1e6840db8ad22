"""transaction_timed_out by logs alone: the coordinator's line, overdue clients, and words that don't tell."""

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import FENCED, facts, line, milliseconds, settings
from tests.rules.cluster import MINUTE, SECOND, START
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check = rule("transaction_timed_out")

BROKER = "broker-1/server.log"
CONFIG = settings(
    "producer.properties", "producer", {"transactional.id": "orders-1", "transaction.timeout.ms": "20000"}
)


def rollback(at, name="orders-1"):
    return line(BROKER, at, Kind.timeout_rollback, transactional_id=name)


def told(lines, *blocks):
    return by_logs(facts(lines, blocks=blocks))


def test_the_coordinators_line_proves_it():
    found = only(check, told([rollback("10:00:00")]))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.proved, Severity.warning, "orders-1")
    assert "60 s" not in found.summary
    assert [(other.rule, other.because) for other in found.considered] == [
        ("fenced_by_new_instance", "the coordinator's own log names the timeout")
    ]
    again, remedy = found.remedies
    assert again.text.startswith("Send the aborted records again")
    assert remedy.proposed is None


def test_a_configuration_tells_when_it_had_begun_at_the_latest():
    found = only(check, told([rollback("10:00:30")], CONFIG))
    assert (found.since, found.until) == (milliseconds("10:00:10"), milliseconds("10:00:30"))
    assert "(20 s)" in found.summary
    assert [remedy.config for remedy in found.remedies] == [None, "transaction.timeout.ms"]


def test_lines_of_one_id_are_one_finding_and_of_two_ids_two():
    found = findings(check, told([rollback("10:00:00"), rollback("10:05:00"), rollback("10:00:00", "other")]))
    assert sorted((one.transactional_id, one.count) for one in found) == [("orders-1", 2), ("other", 1)]


def test_a_producer_that_died_of_it_makes_it_an_error():
    client = Client().start("09:59:00", 7, 3).fatal("10:00:20", FENCED)
    found = only(check, told([*client.said, rollback("10:00:00")]))
    assert (found.severity, found.producer_id, found.producer_epoch) == (Severity.error, 7, 3)
    assert found.steps[-1].text.startswith("The client was refused at 10:00:20.000")


def overdue(seconds):
    client = Client().start("09:00:00")
    retry = {"topic": "T", "partition": 0, "error": "NETWORK_EXCEPTION"}
    client.say("10:00:20", Kind.produce_retry, number=10, **retry)
    client.say(f"10:00:{20 + seconds}", Kind.produce_retry, number=9, **retry)
    return client.fatal(f"10:00:{21 + seconds}", FENCED)


def test_a_client_that_was_refused_when_overdue_is_likely():
    found = only(check, told(overdue(30).said, CONFIG))
    assert found.verdict is Verdict.likely
    assert found.since is not None
    assert found.since <= milliseconds("10:00:20")
    assert not found.considered[0].refuted


def test_a_client_that_was_refused_earlier_is_a_guess():
    """It went on until then: a timeout is only what else it may have been."""
    model = told(overdue(5).said, CONFIG)
    assert not findings(check, model)
    found = only(rule("fenced_by_new_instance"), model)
    assert found.verdict is Verdict.possible
    assert [(other.rule, other.refuted) for other in found.considered] == [("transaction_timed_out", False)]
    assert [remedy.config for remedy in found.remedies] == [None]
    assert "coordinator's server.log" in found.remedies[0].text


def test_two_living_instances_are_no_timeout():
    first = Client(path="a.log").start("10:00:00", 7, 0).threw("10:00:10", "commitTransaction", FENCED)
    second = Client(path="b.log").start("10:00:05", 7, 2)
    assert not findings(check, told([*first.said, *second.said], CONFIG))


def test_a_client_that_aborts_by_itself_is_no_timeout():
    assert not findings(check, told(Client().start("10:00:00").aborts("10:05:00").said))


def test_rows_and_their_line_are_one_finding(either):
    either.init("orders-1", timeout_ms=MINUTE)
    either.begin("orders-1", "orders-0")
    either.time_out("orders-1", over_ms=5 * SECOND)
    found = only(check, beside(either, [rollback(START + MINUTE + 5 * SECOND + 2)]))
    assert (found.verdict, found.count) == (Verdict.proved, 1)
    assert any(place.source == BROKER for place in found.places())


def test_a_line_whose_rows_are_gone_is_told_all_the_same(classic):
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.commit("orders-1")
    found = only(check, beside(classic, [rollback(START - 3_600 * SECOND)]))
    assert (found.verdict, found.count) == (Verdict.proved, 1)


def test_a_cut_log_without_the_line_proves_nothing():
    client = Client().start("09:59:00").fatal("10:00:20", FENCED)
    found = only(check, told(client.said))
    assert found.verdict is Verdict.possible
    assert not found.considered[0].refuted


PRIVATE = "sum-5d0d2c53-1f05-4e0b-9cf5-0f3ad0a7c8bb-1"


def test_an_id_that_one_process_alone_can_know_was_not_taken_over():
    client = Client(PRIVATE).start("10:00:00").fatal("10:20:00", FENCED)
    found = only(check, told(client.said))
    assert (found.verdict, found.transactional_id) == (Verdict.likely, PRIVATE)
    assert not findings(rule("fenced_by_new_instance"), told(client.said))


def test_logs_of_two_processes_with_it_refute_that():
    clients = [Client(PRIVATE, path=path).start("10:00:00").fatal("10:20:00", FENCED) for path in ("a.log", "b.log")]
    assert not any(
        one.verdict > Verdict.possible for one in findings(check, told([*clients[0].said, *clients[1].said]))
    )


def aged(age, timeout):
    return line("client.log", "10:00:29", Kind.transaction_aged, number=age, offset=timeout)


def test_the_age_that_a_framework_names_decides():
    client = Client().start("10:00:20").fatal("10:00:30", FENCED)
    found = only(check, told([*client.said, aged(45_310_220, 10_000)]))
    assert (found.verdict, found.transactional_id) == (Verdict.likely, "orders-1")
    assert "12.6 h" in found.summary
    assert not findings(check, told([*client.said, aged(9_000, 10_000)]))


def test_it_decides_of_lines_that_name_nobody_too():
    refused = line("client.log", "10:00:30", Kind.failure, error=FENCED)
    found = only(check, told([aged(45_310_220, 10_000), refused]))
    assert (found.verdict, found.transactional_id) == (Verdict.likely, None)


def late(state: str = "COMPLETE_ABORT", result: str = "COMMIT", level: str = "WARN") -> str:
    said = f"TransactionalId: ledger-1's state is {state}, but received transaction marker result to send: {result}"
    coordinator = "kafka.coordinator.transaction.TransactionCoordinator"
    return f"[2026-11-21 10:31:20,694] {level} [TransactionCoordinator id=1] {said} ({coordinator})\n"


@pytest.mark.parametrize("state", ["COMPLETE_ABORT", "CompleteAbort"])
def test_a_commit_into_an_abort_says_that_the_coordinator_had_aborted_by_itself(tmp_path, state):
    (tmp_path / "page.txt").write_text(late(state))
    (found,) = [one.finding for one in diagnose([tmp_path / "page.txt"]).findings]
    assert (found.rule, found.verdict, found.transactional_id) == ("transaction_timed_out", Verdict.likely, "ledger-1")


@pytest.mark.parametrize(
    "line",
    [late("COMPLETE_COMMIT", "ABORT"), late("COMPLETE_ABORT", "ABORT"), late("EMPTY"), late(level="DEBUG")],
    ids=["abort of a commit", "abort again", "nothing open", "before transactions v2"],
)
def test_other_ends_that_do_not_fit_say_nothing_of_a_timeout(tmp_path, line):
    (tmp_path / "page.txt").write_text(line)
    assert "transaction_timed_out" not in {one.finding.rule for one in diagnose([tmp_path / "page.txt"]).findings}
