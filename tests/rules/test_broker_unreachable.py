"""broker_unreachable: who saw what, and what only looks like a broker that is away."""

from dataclasses import replace

import pytest

from kafkatx import diagnose
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.events import Level
from kafkatx.terms.verdicts import Severity, Verdict
from tests.evidence import fixtures
from tests.histories.log_facts import DAY, ERRORS, FENCED, KAFKA_EXCEPTION, facts, line, milliseconds, settings, source
from tests.rules.cluster import SECOND
from tests.rules.log_told import by_logs, findings, only, rule

check = rule("broker_unreachable")

DISCONNECT = f"{ERRORS}DisconnectException"


def broker(number, *lines):
    """Lines of a broker's own log: (time, kind, columns)."""
    return [line(f"broker-{number}/server.log", at, kind, **columns) for at, kind, columns in lines]


def brokers(*numbers, **said):
    return [source(f"broker-{number}/server.log", broker_id=number, **said) for number in numbers]


def failing(path, node, *times, kind=Kind.connection_failed):
    return [line(path, at, kind, node=node, detail="10.0.0.1:9092") for at in times]


def minute(path, node, at="10:00"):
    """A minute of failed connections, one every two seconds."""
    return failing(path, node, *(f"{at}:{second:02d}" for second in range(2, 60, 2)))


def told(lines, sources=(), blocks=()):
    return by_logs(facts(lines, sources, blocks))


def test_two_brokers_that_miss_a_third_make_it_likely():
    model = told([*minute("broker-1/server.log", 3), *minute("broker-2/server.log", 3)], brokers(1, 2))
    found = only(check, model)
    assert (found.verdict, found.severity, found.nodes) == (Verdict.likely, Severity.warning, (3,))
    assert (found.since, found.until) == (milliseconds("10:00:02"), milliseconds("10:00:58"))
    assert found.title == "unreachable for at least 56 s, not seen back"
    assert found.summary == (
        "Broker 3 was probably unreachable from 10:00:02.000 until at least 10:00:58.000 (56 s), noticed by broker 1 "
        "and broker 2."
    )
    assert ("the observers' own network", True) in {(other.rule, other.refuted) for other in found.considered}


def recovered(topic):
    own = broker(
        3,
        ("09:59:00", Kind.isr_changed, {"detail": "1,2,3"}),
        ("10:01:10", Kind.broker_starting, {"node": 3}),
        ("10:01:12", Kind.unclean_start, {"topic": topic, "partition": 0} if topic else {}),
        ("10:01:20", Kind.broker_started, {"node": 3}),
    )
    lines = [*minute("broker-1/server.log", 3), *minute("broker-2/server.log", 3), *own]
    return only(check, told(lines, brokers(1, 2, 3)))


@pytest.mark.parametrize("topic", [None, "payments"])
def test_a_hard_stop_in_its_own_log_proves_it_and_its_start_ends_it(topic):
    found = recovered(topic)
    assert found.verdict is Verdict.proved
    assert found.until == milliseconds("10:01:20")
    assert any("hard stop" in step.text for step in found.steps)
    assert all(other.refuted for other in found.considered)
    assert "killed broker 3" in found.remedies[0].text


def test_the_metadata_log_is_recovered_at_every_start_and_shows_no_hard_stop():
    found = recovered("__cluster_metadata")
    assert found.verdict is Verdict.likely
    assert not any("hard stop" in step.text for step in found.steps)


def test_an_orderly_shutdown_is_no_incident():
    own = broker(
        3,
        ("10:00:01", Kind.broker_stopping, {"node": 3}),
        ("10:01:05", Kind.broker_starting, {"node": 3}),
        ("10:01:10", Kind.broker_started, {"node": 3}),
    )
    lines = [*minute("broker-1/server.log", 3), *minute("broker-2/server.log", 3), *own]
    assert not findings(check, told(lines, brokers(1, 2, 3)))


def test_one_observer_alone_may_have_lost_his_own_network():
    found = only(check, told(minute("app.log", 3)))
    assert found.verdict is Verdict.possible
    assert [one.because for one in found.considered if not one.refuted] == [
        "the client of app.log is the only observer"
    ]


def test_clients_of_one_host_that_lose_every_broker_prove_nothing():
    lines = [entry for path in ("a.log", "b.log") for node in (1, 2, 3) for entry in minute(path, node)]
    found = only(check, told(lines))
    assert (found.verdict, found.nodes) == (Verdict.possible, (1, 2, 3))


def test_clients_that_keep_another_broker_make_it_likely():
    lines = [
        line(path, "09:59:00", Kind.coordinator_found, node=1, detail="10.0.0.1:9092") for path in ("a.log", "b.log")
    ]
    lines += [entry for path in ("a.log", "b.log") for entry in minute(path, 2)]
    assert only(check, told(lines)).verdict is Verdict.likely


@pytest.mark.parametrize("kind", [Kind.node_disconnected, Kind.bootstrap_disconnected])
def test_a_connection_that_is_closed_once_is_no_outage(kind):
    assert not findings(check, told(failing("app.log", 1, "10:00:00", kind=kind)))


def test_idle_connections_are_closed_every_nine_minutes_without_harm():
    lines = failing("app.log", 1, "10:00:00", "10:09:00", "10:18:00", kind=Kind.node_disconnected)
    assert not findings(check, told(lines))


def test_a_refused_password_is_no_network():
    lines = [
        line("app.log", f"10:00:{s:02d}", Kind.connection_failed, node=1, error="SaslAuthenticationException")
        for s in range(0, 50, 5)
    ]
    assert not findings(check, told(lines))


def test_brokers_that_meet_each_other_at_their_start_are_not_missing():
    lines = []
    for number, other in ((1, 2), (2, 1)):
        path = f"broker-{number}/server.log"
        lines += failing(path, other, "10:00:00", "10:00:01", "10:00:04")
        lines += broker(number, ("10:00:05", Kind.broker_starting, {"node": number}))
        lines += failing(path, other, "10:00:06", "10:00:08")
        lines += broker(number, ("10:00:09", Kind.broker_started, {"node": number}))
    assert not findings(check, told(lines, brokers(1, 2)))


def test_a_lost_connection_and_a_leader_that_waits_for_its_followers_are_two_witnesses():
    """The power loss of 2023: a fetch is disconnected, produce requests are answered REQUEST_TIMED_OUT."""
    retry = {"topic": "T", "partition": 0, "error": "REQUEST_TIMED_OUT", "transactional_id": "TID", "client_id": "p"}
    lines = [
        line("app.log", "15:42:18.189", Kind.failure, thrown=DISCONNECT, error=DISCONNECT, node=0, client_id="c"),
        line("app.log", "15:42:22.815", Kind.produce_retry, correlation_id=15, number=2147483646, **retry),
        line("app.log", "15:42:52.967", Kind.produce_retry, correlation_id=16, number=2147483645, **retry),
        line("app.log", "15:43:22.789", Kind.failure, thrown=[KAFKA_EXCEPTION, FENCED], error=FENCED,
             calls=("abortTransaction",), transactional_id="TID", client_id="p"),
    ]  # fmt: skip
    config = settings("producer.properties", "producer", {"transactional.id": "TID", "request.timeout.ms": "30000"})
    found = only(check, told(lines, blocks=[config]))
    assert (found.verdict, found.severity, found.nodes) == (Verdict.likely, Severity.error, (0,))
    assert (found.since, found.until) == (milliseconds("15:41:52.815"), milliseconds("15:43:22.789"))
    assert "the client's network to the leader" in {other.rule for other in found.considered if other.refuted}


def test_a_leader_that_waits_for_unknown_followers_is_only_possible():
    lines = [
        line("app.log", at, Kind.produce_retry, topic="T", partition=0, error="REQUEST_TIMED_OUT", number=left)
        for at, left in (("10:00:30", 10), ("10:01:00", 9))
    ]
    found = only(check, told(lines))
    assert (found.verdict, found.nodes) == (Verdict.possible, ())
    assert found.who == "broker with a replica of T-0"
    assert found.summary.startswith("A broker with a replica of T-0 was possibly unreachable from")


def test_a_request_that_waits_for_followers_is_explained_by_the_broker_that_is_away():
    lines = [
        line("a.log", "10:00:30", Kind.request_cancelled, node=1, api="PRODUCE", number=30_000),
        line("b.log", "10:00:30", Kind.request_cancelled, node=2, api="API_VERSIONS", number=29_000),
    ]
    found = only(check, told(lines))
    assert found.nodes == (2,)


def test_the_clients_own_timeout_under_the_leaders_name_is_told_once():
    """Clients of 3.3 and later print REQUEST_TIMED_OUT for what they gave up themselves."""
    lines = [
        line("a.log", "10:00:30", Kind.request_cancelled, node=1, api="PRODUCE", number=30_000, correlation_id=5),
        line("a.log", "10:00:30", Kind.produce_retry, topic="T", partition=0, error="REQUEST_TIMED_OUT", number=9,
             correlation_id=5),
    ]  # fmt: skip
    (outage,) = outages(told(lines).logs)
    assert [observer.kind for observer in outage.observers] == ["client"]
    assert (outage.node, outage.duration_ms) == (1, 30 * SECOND)


def test_what_a_frozen_broker_says_of_others_after_it_thawed_is_not_believed():
    path = "broker-2/server.log"
    lines = [
        line(path, "10:00:40", Kind.request_cancelled, node=1, api="FETCH", number=39_000),
        line(path, "09:59:50", Kind.isr_changed, detail="1,2"),
        *failing("broker-1/server.log", 2, *(f"10:00:{s:02d}" for s in range(3, 20, 2))),
        *broker(1, ("10:00:22", Kind.isr_changed, {"detail": "1"})),
    ]
    found = only(check, told(lines, brokers(1, 2)))
    assert found.nodes == (2,)
    assert found.until == milliseconds("10:00:40")
    assert any("stood still" in step.text for step in found.steps)


def test_brokers_that_lose_each_other_and_go_on_are_parted():
    lines = [*minute("broker-1/server.log", 2), *minute("broker-2/server.log", 1)]
    found = only(check, told(lines, brokers(1, 2)))
    assert found.nodes == (1, 2)
    assert "cut off by the network" in found.summary
    assert found.remedies[0].text.startswith("Repair the network")


def test_brokers_that_go_together_are_one_finding():
    lines = [entry for node in (2, 3) for entry in minute("broker-1/server.log", node)]
    lines += [entry for node in (2, 3) for entry in minute("app.log", node)]
    found = only(check, told(lines, brokers(1)))
    assert (found.nodes, found.verdict) == ((2, 3), Verdict.likely)


def test_an_outage_that_repeats_is_one_finding_with_a_count():
    lines = [entry for hour in range(10, 15) for path in ("a.log", "b.log") for entry in minute(path, 3, f"{hour}:00")]
    found = only(check, told(lines))
    assert (found.count, found.since, found.until) == (5, DAY + 36_002_000, milliseconds("14:00:58"))


def test_a_short_absence_is_worth_a_line():
    lines = [*failing("a.log", 3, "10:00:00", "10:00:03"), *failing("b.log", 3, "10:00:00", "10:00:03")]
    assert only(check, told(lines)).severity is Severity.info


def test_a_transaction_that_timed_out_meanwhile_makes_it_an_error():
    lines = [*minute("broker-1/server.log", 3), *minute("broker-2/server.log", 3)]
    lines += broker(1, ("10:00:59", Kind.timeout_rollback, {"transactional_id": "orders"}))
    found = only(check, told(lines, brokers(1, 2)))
    assert found.severity is Severity.error
    assert any("a transaction of orders timed out" in step.text for step in found.steps)
    assert found.summary.endswith("Meanwhile a transaction of orders timed out.")
    assert found.title == "unreachable for at least 56 s, not seen back, 1 failure meanwhile"


def test_what_waited_in_vain_meanwhile_is_named_by_its_call():
    lines = [*minute("broker-1/server.log", 3), *minute("broker-2/server.log", 3)]
    for name in ("orders", "payments", "quotes"):
        wait = {"api": "EndTxn(true)", "number": 20_000, "transactional_id": name}
        lines.append(line(f"{name}.log", "10:00:40", Kind.await_timeout, **wait))
    found = only(check, told(lines, brokers(1, 2)))
    assert found.summary.endswith(
        "Meanwhile commitTransaction of orders got no answer within max.block.ms and commitTransaction of payments "
        "got no answer within max.block.ms; 1 more failure."
    )
    assert any("at least 56 s" in remedy.text for remedy in found.remedies)


@pytest.mark.parametrize(("at", "waited"), [("10:00:01", 8_000), ("10:00:03", 8_000), ("10:00:10", 60_000)])
def test_a_call_that_had_waited_before_gave_up_for_something_else(at, waited):
    lines = [*minute("broker-1/server.log", 3), *minute("broker-2/server.log", 3)]
    lines.append(line("app.log", at, Kind.await_timeout, api="EndTxn(true)", number=waited, transactional_id="orders"))
    assert "Meanwhile" not in only(check, told(lines, brokers(1, 2))).summary


def test_a_log_that_stops_is_told_with_its_end():
    own = broker(3, ("10:00:00", Kind.isr_changed, {"detail": "1,2,3"}))
    lines = [*minute("broker-1/server.log", 3), *minute("broker-2/server.log", 3), *own]
    found = only(check, told(lines, [*brokers(1, 2), *brokers(3, last="10:00:00")]))
    assert found.steps[-1].text == "Broker 3's own log stops at 10:00:00.000; the others go on"


def test_lines_without_times_prove_no_outage():
    model = told([line("a.log", None, Kind.connection_failed, node=3) for _ in range(9)])
    assert not findings(check, model)


def test_a_controller_that_saw_brokers_go_is_a_witness():
    lines = [*minute("app.log", 3), line("broker-1/controller.log", "10:00:03", Kind.broker_failed, detail="3")]
    assert only(check, told([*lines, *minute("b.log", 3)], [source("broker-1/controller.log", broker_id=1)])).nodes == (
        3,
    )
    lines = [line("broker-1/controller.log", "10:00:03", Kind.broker_failed, detail="3,4"), *minute("app.log", 4)]
    found = only(check, told(lines, [source("broker-1/controller.log", broker_id=1)]))
    assert (found.nodes, found.verdict) == ((4,), Verdict.likely)


def test_a_cut_log_shortens_the_outage_and_never_proves_more():
    lines = [*minute("broker-1/server.log", 3), *minute("broker-2/server.log", 3)]
    whole = only(check, told(lines, brokers(1, 2)))
    assert whole.until is not None
    for end in range(0, len(lines), 7):
        for found in findings(check, told(lines[:end], brokers(1, 2))):
            assert found.verdict <= whole.verdict
            assert found.until is not None
            assert found.until <= whole.until


def test_two_clients_in_rotated_files_of_one_log_are_one_observer():
    lines = [*minute("app.log.1", 3), *minute("app.log", 3, "10:01")]
    assert only(check, told(lines)).verdict is Verdict.possible


def test_numbers_of_group_coordinators_are_those_of_their_brokers():
    lines = [replace(entry, columns={**entry.columns, "node": 2_147_483_644}) for entry in minute("a.log", 3)]
    assert only(check, told([*lines, *minute("b.log", 3)])).nodes == (3,)


def test_an_error_without_a_time_names_the_connection():
    said = {"error": "_ALL_BROKERS_DOWN", "detail": "Local: All broker connections are down"}
    told = [line("a.log", None, Kind.failure, level=Level.error, **said)]
    found = only(rule("broker_unreachable"), by_logs(told))
    assert (found.verdict, found.transactional_id) == (Verdict.likely, None)


def test_refused_credentials_are_told_as_such():
    said = {"error": "SaslAuthenticationException", "detail": "Authentication failed"}
    told = [line("a.log", None, Kind.to_fatal, **said)]
    found = only(rule("broker_unreachable"), by_logs(told))
    assert "credentials" in found.summary
    assert found.remedies[0].text.startswith("Check the credentials")


SHOWN = "WARN [Producer clientId=sw-1, transactionalId=sw] Connection to node -1 (k/10.2.0.9:9092) could not be "
SHOWN += "established. Broker may not be available."


def test_a_connection_that_could_not_be_made_at_the_end_of_a_few_lines(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"stands like this for hours\n\n{SHOWN}\n")
    (found,) = [one.finding for one in diagnose([path]).findings]
    assert (found.rule, found.verdict, found.severity) == ("broker_unreachable", Verdict.likely, Severity.warning)
    given = "INFO [Producer clientId=sw-1, transactionalId=sw] ProducerId set to 7 with epoch 3"
    path.write_text(f"{SHOWN}\n{given}\n")
    assert not diagnose([path]).findings


def test_a_failure_in_another_block_of_a_page_hides_no_lost_connection(tmp_path):
    path = tmp_path / "page.md"
    commit = "ERROR librdkafka: TXNERR [thrd:main]: Current transaction failed in state CommittingTransaction: "
    commit += "Transactional API operation (commit_transaction) timed out (_TIMED_OUT)"
    down = "ERROR kafka_util: librdkafka: Global error: AllBrokersDown (Local: All broker connections are down): "
    down += "3/3 brokers are down"
    path.write_text(
        f"first this\n\n```\n2026-11-21T10:00:01.5Z {commit}\n```\n\nand much later\n\n"
        f"```\n2026-11-21T11:00:01.5Z {down}\n```\n"
    )
    told = {one.finding.rule for one in diagnose([path]).findings}
    assert told == {"commit_outcome_unknown", "broker_unreachable"}


@pytest.mark.parametrize(
    "said",
    [
        "[2026-11-21 10:00:00,000] ERROR [Producer clientId=w] Connection to node -1 (b/10.0.0.1:9093) failed "
        "authentication due to: Authentication failed during authentication due to invalid credentials",
        "%3|1714644672.100|FAIL|w#producer-1| [thrd:sasl_ssl://b:9093/bootstrap]: sasl_ssl://b:9093/bootstrap: SASL "
        "authentication error: Authentication failed (after 5ms in state AUTH_REQ)",
    ],
)
def test_who_was_refused_for_his_credentials_reached_a_broker(tmp_path, said):
    page = tmp_path / "page.md"
    page.write_text(f"{said}\n")
    for finding in [one.finding for one in diagnose([page]).findings]:
        assert "gone" not in finding.summary
        assert "could not connect" not in finding.summary


MARKERS = (
    "[2019-04-03 07:11:42,310] WARN [TransactionCoordinator id=2001] Connection to node 0 "
    "(kafka-0.kafka/[10.4.1.7:9092|http://10.4.1.7:9092/]) could not be established. Broker may not be available. "
    "(org.apache.kafka.clients.NetworkClient)",
    "[2019-04-03 07:12:19,442] WARN [TransactionCoordinator id=2001] Connection to node 1 "
    "(kafka-1.kafka/[10.4.1.8:9092|http://10.4.1.8:9092/]) could not be established. Broker may not be available. "
    "(org.apache.kafka.clients.NetworkClient)",
)


def test_a_coordinator_without_connections_sends_no_markers_and_no_client_is_asked(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("After a rolling restart\n\n" + "\n\n".join(f"??{line}??" for line in MARKERS) + "\n")
    found = diagnose([path])
    (one,) = found.findings
    assert (one.finding.rule, one.finding.nodes) == ("broker_unreachable", (0, 1))
    assert "broker 2001" in one.finding.summary
    assert "kafka-0.kafka/10.4.1.7:9092" in one.finding.summary
    assert not found.next


ISOLATED = (
    'timestamp=2025-03-03T14:08:51.377Z level=WARN message="[Producer clientId=producer-9, transactionalId=chaos-9] '
    'Connection to node 1 (kafka-1.kafka/10.96.11.2:9092) could not be established. Node may not be available."',
    'timestamp=2025-03-03T14:09:40.115Z level=ERROR message="batch 4411" '
    'cause="org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting EndTxn(true)',
    "\tat org.apache.kafka.clients.producer.KafkaProducer.commitTransaction(KafkaProducer.java:793)",
    'timestamp=2025-03-03T14:09:40.120Z level=ERROR message="abort" cause="java.lang.IllegalStateException: Cannot '
    "attempt operation `abortTransaction` because the previous call to `commitTransaction` timed out and must be "
    'retried"',
)


def test_a_commit_that_an_outage_left_open_is_one_cause_and_has_to_be_called_again(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("\n".join(ISOLATED) + "\n")
    found = {one.finding.rule: one for one in diagnose([path]).findings}
    cause, effect = found["broker_unreachable"], found["commit_outcome_unknown"]
    assert effect.caused_by == cause.id
    assert cause.finding.count == 1  # the refused abort never asked a broker
    assert any(step.text.startswith("Call commitTransaction again") for step in cause.finding.remedies)
    assert not any(step.text.startswith("Abort") for step in cause.finding.remedies)


@pytest.fixture(scope="module")
def recorded():
    """Two of three recorded brokers stood still; the third one waited for them."""
    return diagnose([fixtures() / "c3-unavailable"])


def test_what_observers_saw_is_cited_by_requests_to_the_brokers_that_were_away(recorded):
    """Requests to a leader that waited for them are counted to them, and are not what shows them."""
    (away,) = (one.finding for one in recorded.findings if one.finding.rule == "broker_unreachable")
    sights = [step for step in away.steps if "could not reach" in step.text]
    assert len(sights) >= 3
    assert not [place.text for step in sights for place in step.places if "node 1," in f"{place.text},"]


def test_a_silent_log_is_cited_on_both_sides_and_what_is_likely_leaves_something_open(recorded):
    (away,) = (one.finding for one in recorded.findings if one.finding.rule == "broker_unreachable")
    own = [step for step in away.steps if "own log is silent" in step.text]
    assert [len(step.places) for step in own] == [2, 2]
    assert any(not other.refuted for other in away.considered)


def test_logs_of_clients_that_are_at_hand_are_not_asked_for(recorded):
    assert not [one.asked.what for one in recorded.next if "log of" in one.asked.what and "client" in one.asked.what]


def test_an_epoch_that_could_not_be_written_comes_before_the_abort_that_was(recorded):
    """So the client may be refused before the rows of the abort that it is refused for."""
    (timed_out,) = (one.finding for one in recorded.findings if one.finding.rule == "transaction_timed_out")
    texts = [step.text for step in timed_out.steps]
    raised = next(number for number, text in enumerate(texts) if "could not write it" in text)
    assert "The coordinator aborted it" in texts[raised + 1]


def test_a_commit_that_waited_for_a_coordinator_is_its_effect(recorded):
    """Both calls began before the first write was refused, and lie in the time in which nothing got through."""
    (coordinator,) = (
        one for one in recorded.findings
        if one.finding.rule == "coordinator_unavailable" and one.finding.facts["could_not_write"]
    )  # fmt: skip
    waited = [one for one in recorded.findings if one.finding.rule == "commit_outcome_unknown"]
    assert {one.caused_by for one in waited} == {coordinator.id}
