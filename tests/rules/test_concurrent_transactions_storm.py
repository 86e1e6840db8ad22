"""concurrent_transactions_storm: answers and repeated requests by the minute, markers that take long, and neither."""

from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.events import Level
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import TIMED_OUT, line, milliseconds
from tests.rules.cluster import HOUR, SECOND, START
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check = rule("concurrent_transactions_storm")

BROKER = "broker-1/server.log"


def answers(count, every_ms=1_000, name="orders-1"):
    begin = milliseconds("10:00:00")
    return [
        line(BROKER, begin + every_ms * number, Kind.concurrent_transactions, transactional_id=name,
             api="InitProducerId", level=Level.debug)
        for number in range(count)
    ]  # fmt: skip


def queued(count, every_ms=200, api="InitProducerId", begin=START):
    client = Client().say(begin, Kind.init_called)
    for number in range(count):
        client.say(begin + every_ms * number, Kind.request_enqueued, api=api, level=Level.debug)
    return client


def test_thirty_answers_in_half_a_minute_are_a_storm():
    found = only(check, by_logs(answers(30)))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.warning)
    assert found.transactional_id == "orders-1"
    assert "30 times" in found.summary


def test_three_answers_during_a_commit_are_ordinary():
    assert not findings(check, by_logs(answers(3)))


def test_as_many_over_an_hour_are_ordinary():
    assert not findings(check, by_logs(answers(30, every_ms=120_000)))


def test_answers_to_many_ids_are_no_storm_of_one():
    assert not findings(check, by_logs([entry for n in range(30) for entry in answers(2, name=f"orders-{n}")]))


def test_answers_that_the_reader_only_counted_count():
    lines = [
        *answers(2),
        line(BROKER, "10:00:03", Kind.concurrent_transactions, transactional_id="orders-1", repeats=500),
    ]
    assert "503 times" in only(check, by_logs(lines)).summary


def test_a_call_that_gave_up_makes_it_an_error():
    client = Client().start("09:59:00")
    client.say("10:00:31", Kind.await_timeout, api="InitProducerId", number=60_000, thrown=TIMED_OUT)
    found = only(check, by_logs([*answers(30), *client.said]))
    assert found.severity is Severity.error
    assert found.steps[-1].text == "The call timed out after max.block.ms"


def test_what_came_after_the_failure_is_counted_apart():
    """The sender goes on while the application has its exception already."""
    client = Client().start("09:59:00")
    client.say("10:00:19.500", Kind.await_timeout, api="InitProducerId", number=19_000, thrown=TIMED_OUT)
    found = only(check, by_logs([*answers(30), *client.said]))
    assert found.summary.startswith(
        "orders-1 was answered CONCURRENT_TRANSACTIONS 20 times in 19 s, until the call timed out, and 10 times after "
        "that."
    )
    assert "30 times" in found.title


def test_a_java_client_that_repeats_itself_is_a_guess_without_rows():
    found = only(check, by_logs(queued(300).said))
    assert (found.verdict, found.severity) == (Verdict.possible, Severity.warning)
    assert [(other.rule, other.refuted) for other in found.considered] == [("coordinator_unavailable", False)]
    assert "possibly answered CONCURRENT_TRANSACTIONS" in found.summary


def test_with_the_ids_row_in_prepare_it_is_likely(classic):
    classic.init("orders-1")
    classic.ongoing("orders-1", "orders-0")
    classic.prepare("orders-1", True)
    classic.wait(HOUR)
    client = queued(300, begin=START + 10 * SECOND)
    client.say(START + 70 * SECOND, Kind.await_timeout, api="InitProducerId", number=60_000)
    found = only(check, beside(classic, client.said))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.error)
    assert "PrepareCommit" in found.steps[0].text
    assert found.remedies[0].where == "operator"
    assert "The coordinator probably answered CONCURRENT_TRANSACTIONS" in found.summary
    assert "a restart of the application does not help" in found.remedies[0].text


def test_requests_of_a_busy_client_are_not_repetitions():
    client = Client().start(START)
    for number in range(200):
        for api in ("AddPartitionsToTxn", "EndTxn"):
            client.say(START + 100 * number, Kind.request_enqueued, api=api, level=Level.debug)
    assert not findings(check, by_logs(client.said))


def test_partitions_added_one_by_one_are_not_repetitions():
    assert not findings(check, by_logs(queued(200, api="AddPartitionsToTxn").said))


def test_initialisations_that_succeed_are_not_repetitions():
    client = Client()
    for number in range(60):
        client.say(START + 500 * number, Kind.request_enqueued, api="InitProducerId", level=Level.debug)
        client.given(START + 500 * number + 20, 7, number)
    assert not findings(check, by_logs(client.said))


def commits(cluster, takes):
    cluster.init("orders-1")
    for waited in takes:
        cluster.ongoing("orders-1", "orders-0")
        cluster.prepare("orders-1", True)
        cluster.markers("orders-1")
        cluster.wait(waited)
        cluster.complete("orders-1")
        cluster.wait(50)


def test_markers_that_take_seconds_again_and_again_are_likely(classic):
    commits(classic, [20] * 34 + [3_000] * 4)
    found = only(check, classic.model())
    assert (found.verdict, found.severity, found.count) == (Verdict.likely, Severity.warning, 4)
    assert found.steps[0].text == "A transaction waited 3 s for its markers"


def test_one_slow_transaction_behind_a_lost_broker_is_no_storm(classic):
    commits(classic, [20] * 30 + [45_000])
    assert not findings(check, classic.model())


def test_markers_that_always_take_long_are_the_clusters_pace(classic):
    commits(classic, [1_200] * 40)
    assert not findings(check, classic.model())


def test_few_transactions_say_nothing(classic):
    commits(classic, [20] * 3 + [3_000] * 3)
    assert not findings(check, classic.model())


def test_a_cut_log_tells_of_fewer():
    lines = answers(40)
    for end in range(len(lines)):
        found = findings(check, by_logs(lines[:end]))
        assert len(found) == (end >= 20)


def gave_up(at="10:00:01", name="orders-1"):
    """A client that gave up with the error."""
    error = "CONCURRENT_TRANSACTIONS"
    return line("app.log", at, Kind.failure, level=Level.error, transactional_id=name, error=error, thrown=error)


def test_a_few_answers_close_together_are_likely_where_the_client_gave_up_with_them():
    found = only(check, by_logs([*answers(4, every_ms=25), gave_up()]))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.likely, Severity.error, "orders-1")


def test_a_few_answers_of_another_id_or_far_apart_are_not_it():
    assert not findings(check, by_logs(answers(4, every_ms=25)))
    assert not findings(check, by_logs([*answers(4, every_ms=25), gave_up(name="bills-1")]))
    assert not findings(check, by_logs([*answers(4, every_ms=5_000), gave_up("10:00:30")]))
