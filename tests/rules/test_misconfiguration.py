"""misconfiguration: settings that do not fit, what raises them, and the values that say nothing."""

import pytest

from kafkatx.findings.finding import Finding, NotCheckable
from kafkatx.local.diagnosis import diagnose
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.events import Setting
from tests.histories.log_facts import DAY as THAT_DAY
from tests.histories.log_facts import ERRORS, Given, facts, line, settings
from tests.rules.cluster import HOUR, MINUTE, SECOND, START, Cluster
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check = rule("misconfiguration")

NAME = "orders-1"
BROKER = "server-1.properties"
ILLEGAL = "java.lang.IllegalStateException"
OLD = "Transactional records are not supported for magic 1"


def producer(**values: str | int) -> Given:
    """A producer's file."""
    named = {key.replace("__", "-").replace("_", "."): str(value) for key, value in values.items()}
    return settings("client.properties", "producer", {"transactional.id": NAME, **named})


def printed(path: str = "client.log", scope: str = "producer", **values: str | int) -> Given:
    """What a program printed at its start."""
    named = {key.replace("_", "."): str(value) for key, value in values.items()}
    own = {"transactional.id": NAME} if scope == "producer" else {}
    return settings(path, scope, {**own, **named}, 1)


def broker(path: str = BROKER, **values: str | int) -> Given:
    """A broker's file."""
    return settings(path, "broker", {key.replace("_", "."): str(value) for key, value in values.items()})


def told(*blocks: Given, client: Client | None = None) -> list[Finding]:
    return findings(check, by_logs(facts(client.said if client else [], blocks=blocks)))


def the(*blocks: Given, client: Client | None = None) -> Finding:
    return only(check, by_logs(facts(client.said if client else [], blocks=blocks)))


# A timeout above what brokers allow.

LONG, LIMIT = {"transaction_timeout_ms": 3_600_000}, {"transaction_max_timeout_ms": 900_000}


def test_a_timeout_above_the_brokers_limit_is_an_error_and_both_ways_out_are_given():
    finding = the(producer(**LONG), broker(node_id=1, **LIMIT))
    assert (finding.verdict, finding.severity, finding.transactional_id) == (Verdict.proved, Severity.error, NAME)
    assert [(remedy.config, remedy.current, remedy.proposed) for remedy in finding.remedies] == [
        ("transaction.timeout.ms", "3600000", "900000"),
        ("transaction.max.timeout.ms", "900000", "3600000"),
    ]
    assert {(place.source, place.line) for place in finding.places()} == {("client.properties", 1), (BROKER, 1)}


def test_a_limit_that_only_a_default_tells_makes_it_possible_and_no_error():
    finding = the(producer(**LONG))
    assert (finding.verdict, finding.severity) == (Verdict.possible, Severity.warning)
    assert finding.title == "transaction.timeout.ms above the brokers' limit"
    assert finding.summary == (
        f"{NAME} has transaction.timeout.ms=3600000 (60 min), possibly above transaction.max.timeout.ms=900000 "
        "(15 min, the default). Brokers refuse such a producer with INVALID_TRANSACTION_TIMEOUT."
    )
    assert "nothing found sets transaction.max.timeout.ms" in str(finding.steps[0].because)


def test_a_producer_that_was_given_its_id_was_not_refused():
    assert not told(producer(**LONG), broker(node_id=1, **LIMIT), client=Client().start("10:00:00"))


def test_the_coordinators_rows_show_that_a_long_timeout_was_accepted(classic):
    classic.init(NAME, timeout_ms=HOUR)
    classic.run(NAME, "orders-0")
    assert not findings(check, beside(classic, facts([], blocks=[producer(**LONG)])))


def test_a_refusal_proves_it_whatever_the_settings_are():
    client = Client().threw("10:00:00", "initTransactions", f"{ERRORS}InvalidTxnTimeoutException", "larger")
    finding = the(client=client)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.error)
    (step,) = finding.steps
    assert "refused" in step.text
    assert step.places


def test_the_brokers_line_of_the_refusal_is_enough():
    row = line(
        "broker-1/server.log",
        "10:00:00",
        EventKind.init_refused,
        transactional_id=NAME,
        error="INVALID_TRANSACTION_TIMEOUT",
    )
    finding = only(check, by_logs(facts([row])))
    assert (finding.verdict, finding.transactional_id) == (Verdict.proved, NAME)


def test_another_refusal_is_none_of_its_business():
    row = line(
        "broker-1/server.log",
        "10:00:00",
        EventKind.init_refused,
        transactional_id=NAME,
        error="CONCURRENT_TRANSACTIONS",
    )
    assert not findings(check, by_logs(facts([row])))


def test_flinks_own_hour_is_not_alarming_by_itself():
    sink = settings("client.properties", "producer", {"transactional.id": "copy-sink-0-1"})
    assert not told(sink, broker(node_id=1, **LIMIT))


# What a transactional producer must not have.


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("enable.idempotence", "false"),
        ("acks", "1"),
        ("acks", "0"),
        ("retries", "0"),
        ("max.in.flight.requests.per.connection", "6"),
    ],
)
def test_an_override_against_idempotence_is_refused_at_the_start(name, value):
    finding = the(settings("client.properties", "producer", {"transactional.id": NAME, name: value}))
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.error)
    assert [(remedy.config, remedy.current) for remedy in finding.remedies] == [(name, value)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("enable.idempotence", "true"),
        ("acks", "all"),
        ("acks", "-1"),
        ("retries", "10"),
        ("max.in.flight.requests.per.connection", "5"),
    ],
)
def test_values_that_go_with_idempotence_are_fine(name, value):
    assert not told(settings("client.properties", "producer", {"transactional.id": NAME, name: value}))


def test_the_defaults_that_old_clients_print_before_they_replace_them_are_none():
    assert not told(printed(acks="1", retries="0", enable_idempotence="false"))


def test_a_value_printed_by_a_client_that_runs_was_replaced():
    assert not told(printed(acks="0"), client=Client().start("10:00:00"))


def test_without_a_transactional_id_they_are_a_matter_of_taste():
    assert not told(settings("client.properties", "producer", {"acks": "0", "enable.idempotence": "false"}))


# Times of one client.


def test_delivery_below_one_attempt_does_not_fit():
    finding = the(producer(delivery_timeout_ms=20_000, request_timeout_ms=30_000, linger_ms=5))
    assert finding.severity is Severity.warning
    assert finding.remedies[0].proposed == "30005"


def test_the_clients_refusal_raises_it_to_an_error():
    client = Client().threw("10:00:00", "send", "org.apache.kafka.common.config.ConfigException", "delivery.timeout.ms")
    finding = the(producer(delivery_timeout_ms=20_000, request_timeout_ms=30_000), client=client)
    assert finding.severity is Severity.error


def test_a_short_block_is_worth_a_word_and_a_warning_once_a_call_gave_up():
    short = producer(max_block_ms=20_000)
    assert the(short).severity is Severity.info
    client = Client().start("10:00:00").say("10:00:20", EventKind.await_timeout, api="EndTxn(true)", number=20_000)
    finding = the(short, client=client)
    assert finding.severity is Severity.warning
    assert "timed out" in finding.steps[1].text
    assert finding.summary.endswith(". A call timed out before the coordinator answered.")


def test_a_setting_and_a_default_make_it_likely_and_two_printed_ones_prove_it():
    assert the(producer(max_block_ms=20_000)).verdict is Verdict.likely
    assert the(printed(max_block_ms=20_000, request_timeout_ms=30_000)).verdict is Verdict.proved


def test_retries_longer_than_the_memory_of_partitions_do_not_fit():
    finding = the(producer(delivery_timeout_ms=600_000), broker(producer_id_expiration_ms=60_000))
    assert (finding.severity, finding.verdict) == (Severity.warning, Verdict.proved)
    assert finding.remedies[0].config == "producer.id.expiration.ms"


def test_endless_delivery_of_kafka_streams_is_its_own_default():
    name = "app-0f44002f-18c4-47dc-9161-0f0105243615-1"
    values = {"transactional.id": name, "delivery.timeout.ms": "2147483647", "transaction.timeout.ms": "10000"}
    own = settings("client.log", "producer", values, 1)
    assert not told(own, settings("app.properties", "streams", {"application.id": "app"}))


def test_a_commit_interval_above_the_timeout_of_kafka_streams_is_an_error():
    name = "app-0f44002f-18c4-47dc-9161-0f0105243615-1"
    values = {"transactional.id": name, "transaction.timeout.ms": "10000"}
    app = settings("app.properties", "streams", {"application.id": "app", "commit.interval.ms": "30000"})
    finding = the(settings("client.log", "producer", values, 1), app)
    assert finding.severity is Severity.error
    assert {remedy.config for remedy in finding.remedies} == {"commit.interval.ms", "producer.transaction.timeout.ms"}


def librdkafka(**values: int) -> list[Given]:
    named = {key.replace("_", "."): str(value) for key, value in values.items()}
    return [
        settings("client.properties", "producer", {"transactional.id": NAME, "message.send.max.retries": "9", **named})
    ]


def test_messages_that_outlive_the_transaction_are_refused_where_they_were_set():
    client = Client(release="2.3.0", logger="rdkafka")
    assert the(*librdkafka(message_timeout_ms=90_000, transaction_timeout_ms=60_000), client=client).severity is (
        Severity.error
    )
    assert not told(*librdkafka(transaction_timeout_ms=10_000), client=client)


# Retries that outlive the transaction: the default order, so only with its effect.


def timed_out_with_retries(cluster: Cluster, *, retries: bool) -> Client:
    cluster.init(NAME, timeout_ms=MINUTE)
    cluster.begin(NAME, "orders-0")
    began = cluster.clock
    client = Client().start(START)
    if retries:
        client.say(began + 30 * SECOND, EventKind.produce_retry, topic="orders", partition=0, error="NETWORK_EXCEPTION")
    cluster.time_out(NAME)
    return client


def test_retries_that_ran_when_the_transaction_timed_out_are_told(classic):
    client = timed_out_with_retries(classic, retries=True)
    own = producer(delivery_timeout_ms=120_000, transaction_timeout_ms=60_000)
    finding = only(check, beside(classic, facts(client.said, blocks=[own])))
    assert (finding.severity, finding.transactional_id) == (Severity.warning, NAME)
    (remedy,) = finding.remedies
    assert remedy.config == "transaction.timeout.ms"
    assert int(remedy.proposed) > 120_000


def test_the_same_with_the_defaults_is_info(classic):
    client = timed_out_with_retries(classic, retries=True)
    own = printed(delivery_timeout_ms=120_000, transaction_timeout_ms=60_000)
    finding = only(check, beside(classic, facts(client.said, blocks=[own])))
    assert finding.severity is Severity.info


def test_a_timeout_without_retries_has_another_reason(classic):
    client = timed_out_with_retries(classic, retries=False)
    own = producer(delivery_timeout_ms=120_000, transaction_timeout_ms=60_000)
    assert not findings(check, beside(classic, facts(client.said, blocks=[own])))


def test_a_coordinator_that_looks_rarely_is_told_where_the_abort_came_late(classic):
    classic.init(NAME, timeout_ms=4 * SECOND)
    classic.begin(NAME, "orders-0")
    classic.time_out(NAME, over_ms=9 * SECOND)
    own = producer(transaction_timeout_ms=4_000)
    finding = only(check, beside(classic, facts([], blocks=[own])))
    assert finding.severity is Severity.info
    assert finding.remedies[0].config == "transaction.abort.timed.out.transaction.cleanup.interval.ms"


def test_an_interval_that_the_release_does_not_use_is_not_proposed(classic):
    classic.init(NAME, timeout_ms=4 * SECOND)
    classic.begin(NAME, "orders-0")
    classic.time_out(NAME, over_ms=55 * SECOND)
    cluster = printed(
        "broker-1/server.log",
        "broker",
        node_id=1,
        inter_broker_protocol_version="0.11.0.1",
        transaction_abort_timed_out_transaction_cleanup_interval_ms=5_000,
    )
    found = findings(check, beside(classic, facts([], blocks=[producer(transaction_timeout_ms=4_000), cluster])))
    assert len(found) == 2
    assert all("Upgrade the brokers" in remedy.text for one in found for remedy in one.remedies)
    assert not any(remedy.proposed for one in found for remedy in one.remedies)


# Brokers.


def brokers(count: int, **values: str | int) -> list[Given]:
    return [broker(f"server-{number}.properties", node_id=number, **values) for number in range(1, count + 1)]


@pytest.mark.parametrize(
    ("factor", "isr", "count", "fires"),
    [
        (1, 1, 3, True),
        (3, 1, 3, True),
        (3, 3, 3, True),
        (2, 2, 2, True),
        (3, 2, 3, False),
        (1, 1, 1, False),
        (1, 1, 2, False),
    ],
)
def test_the_coordinators_log_needs_replicas_where_there_are_brokers(factor, isr, count, fires):
    values = {"transaction_state_log_replication_factor": factor, "transaction_state_log_min_isr": isr}
    assert bool(told(*brokers(count, **values))) is fires


def test_brokers_that_contradict_each_other_prove_nothing():
    weak = {"transaction_state_log_replication_factor": 1, "transaction_state_log_min_isr": 1}
    sound = {"transaction_state_log_replication_factor": 3, "transaction_state_log_min_isr": 2}
    mixed = [broker("server-1.properties", node_id=1, **weak), *brokers(3, **sound)[1:]]
    assert not told(*mixed)


@pytest.mark.parametrize(
    ("name", "value", "proposed"),
    [
        ("unclean_leader_election_enable", "true", "false"),
        ("transaction_partition_verification_enable", "false", "true"),
    ],
)
def test_switches_that_cost_transactions_are_warned_of(name, value, proposed):
    finding = the(broker(node_id=1, **{name: value}))
    assert (finding.severity, finding.remedies[0].proposed) == (Severity.warning, proposed)


def test_offsets_on_one_replica_matter_where_there_are_two_brokers():
    assert not told(*brokers(1, offsets_topic_replication_factor=1))
    assert the(*brokers(2, offsets_topic_replication_factor=1)).severity is Severity.warning


def test_an_id_idle_longer_than_ids_are_kept_is_told_with_the_time_measured(classic):
    classic.init(NAME)
    classic.run(NAME, "orders-0")
    classic.wait(15 * SECOND)
    classic.run(NAME, "orders-0")
    model = beside(classic, facts([], blocks=[broker(node_id=1, transactional_id_expiration_ms=10_000)]))
    finding = only(check, model)
    assert finding.severity is Severity.warning
    assert "15" in finding.steps[1].text
    assert finding.remedies[0].proposed == "604800000"


def test_an_idle_time_below_the_expiration_is_fine(classic):
    classic.init(NAME)
    classic.run(NAME, "orders-0")
    classic.wait(5 * SECOND)
    classic.run(NAME, "orders-0")
    model = beside(classic, facts([], blocks=[broker(node_id=1, transactional_id_expiration_ms=10_000)]))
    assert not findings(check, model)


def test_a_week_of_silence_in_the_data_is_worth_a_word_even_where_no_setting_is_at_hand(classic):
    classic.init(NAME)
    classic.run(NAME, "orders-0")
    classic.wait(185 * HOUR)
    classic.run(NAME, "orders-0")
    classic.logs = {name: log for name, log in classic.logs.items() if not name.startswith("__")}
    finding = only(check, classic.model())
    assert (finding.verdict, finding.severity) == (Verdict.possible, Severity.info)
    assert finding.remedies[0].proposed == "1209600000"


def test_an_old_record_format_of_the_brokers_is_worth_a_word():
    assert the(broker(node_id=1, log_message_format_version="0.10.2-IV0")).severity is Severity.info
    assert not told(broker(node_id=1, log_message_format_version="3.0-IV1"))


# Consumers.


def consumer(**values: str | int) -> Given:
    named = {key.replace("_", "."): str(value) for key, value in values.items()}
    return settings("consumer.properties", "consumer", {"group.id": "g", **named})


def test_reading_uncommitted_is_warned_of_where_something_was_aborted(classic):
    classic.init(NAME)
    classic.begin(NAME, "orders-0")
    classic.abort(NAME)
    reader = settings("consumer.properties", "consumer", {"group.id": "g", "isolation.level": "read_uncommitted"})
    finding = only(check, beside(classic, facts([], blocks=[reader])))
    assert (finding.severity, finding.remedies[0].proposed) == (Severity.warning, "read_committed")


def test_the_default_isolation_is_info_at_most_and_read_committed_nothing(classic):
    classic.init(NAME)
    classic.begin(NAME, "orders-0")
    classic.abort(NAME)
    (default,) = findings(check, beside(classic, facts([], blocks=[consumer(max_poll_records=5)])))
    assert default.severity is Severity.info
    assert not findings(check, beside(classic, facts([], blocks=[consumer(isolation_level="read_committed")])))


def test_the_members_of_a_group_are_named_once(classic):
    classic.init(NAME)
    classic.begin(NAME, "orders-0")
    classic.abort(NAME)
    values = {"group.id": "g", "isolation.level": "read_uncommitted"}
    members = [settings(f"client-{name}.log", "consumer", {**values, "client.id": name}) for name in "ab"]
    finding = only(check, beside(classic, facts([], blocks=members)))
    assert finding.summary.startswith("Group g has ")
    assert [one.name for one in finding.actors] == ["group g"]
    assert "client-a.log and client-b.log" in finding.actors[0].what


@pytest.mark.parametrize(("value", "fires"), [("true", True), ("false", False)])
def test_automatic_commits_beside_offsets_in_the_transaction_are_warned_of(classic, value, fires):
    classic.init(NAME)
    classic.run(NAME, "orders-0", "__consumer_offsets-3")
    reader = settings(
        "app.log", "consumer", {"group.id": "g", "enable.auto.commit": value, "isolation.level": "read_committed"}, 1
    )
    writer = settings("app.log", "producer", {"transactional.id": NAME}, 2)
    found = findings(check, beside(classic, facts([], blocks=[reader, writer])))
    assert bool(found) is fires
    assert all(finding.severity is Severity.warning for finding in found)


def test_automatic_commits_of_a_program_that_sends_no_offsets_are_its_own_affair(classic):
    classic.init(NAME)
    classic.run(NAME, "orders-0")
    reader = settings("app.log", "consumer", {"group.id": "g", "enable.auto.commit": "true"}, 1)
    writer = settings("app.log", "producer", {"transactional.id": NAME}, 2)
    assert not findings(check, beside(classic, facts([], blocks=[reader, writer])))


@pytest.mark.parametrize(("interval", "fires"), [(30_000, True), (300_000, False)])
def test_a_poll_interval_below_the_transactions_timeout_is_worth_a_word(classic, interval, fires):
    classic.init(NAME)
    classic.run(NAME, "orders-0", "__consumer_offsets-3")
    values = {"group.id": "g", "max.poll.interval.ms": str(interval), "isolation.level": "read_committed"}
    reader = settings("app.log", "consumer", {**values, "enable.auto.commit": "false"}, 1)
    writer = settings("app.log", "producer", {"transactional.id": NAME, "transaction.timeout.ms": "60000"}, 2)
    found = findings(check, beside(classic, facts([], blocks=[reader, writer])))
    assert [finding.severity for finding in found] == ([Severity.info] if fires else [])


# Files.


def test_a_name_with_two_values_in_one_file_is_told_with_both_lines():
    given = facts([], blocks=[settings("client.properties", "producer", {"transactional.id": NAME})])
    given.settings += [Setting("producer", "linger.ms", value, 0, line, 0) for line, value in ((7, "1"), (9, "2"))]
    finding = only(check, by_logs(given))
    assert finding.severity is Severity.info
    assert [place.line for place in finding.places()] == [7, 9]


def test_a_name_with_one_value_twice_is_nothing():
    given = facts([], blocks=[settings("client.properties", "producer", {"transactional.id": NAME})])
    given.settings += [Setting("producer", "linger.ms", "1", 0, line, 0) for line in (7, 9)]
    assert not findings(check, by_logs(given))


# What cannot work at all.


def refused_write(**columns: object):
    values = {"topic": "exports", "partition": 0, "number": 1, **columns}
    return line("broker-1/server.log", "10:00:00", EventKind.unsupported_format, **values)


def test_a_topic_in_an_old_format_is_proved_by_its_leaders_line():
    finding = only(check, by_logs(facts([refused_write(), refused_write()])))
    assert (finding.verdict, finding.severity, finding.topic, finding.count) == (
        Verdict.proved,
        Severity.error,
        "exports",
        2,
    )
    assert finding.transactional_id is None
    assert finding.remedies[0].config == "message.format.version"


def test_the_coordinators_rows_say_who_meets_it(classic):
    classic.init(NAME)
    classic.ongoing(NAME, "exports-0", "orders-0")
    classic.abort(NAME)
    classic.init("other")
    classic.run("other", "orders-0")
    row = line(
        "broker-1/server.log", classic.clock, EventKind.unsupported_format, topic="exports", partition=0, number=1
    )
    (finding,) = [one for one in findings(check, beside(classic, facts([row]))) if one.topic == "exports"]
    assert finding.transactional_id == NAME
    assert "orders" not in finding.summary.replace(NAME, "")


def test_the_same_words_in_a_stack_trace_are_enough():
    row = line("broker-1/server.log", "10:00:00", EventKind.append_refused, topic="exports", partition=0,
               thrown=[("java.lang.IllegalArgumentException", OLD)])  # fmt: skip
    assert only(check, by_logs(facts([row]))).topic == "exports"


def test_transactional_calls_without_an_id_are_proved_by_the_clients_words():
    words = "Cannot use transactional methods without enabling transactions by setting the transactional.id property"
    client = Client(None, client_id="producer-1").threw("10:00:00", "beginTransaction", ILLEGAL, words)
    finding = the(client=client)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.error)
    assert finding.remedies[0].config == "transactional.id"
    assert finding.since == THAT_DAY + 10 * HOUR


def test_another_illegal_state_is_another_story():
    client = Client().start("10:00:00").threw("10:00:01", "beginTransaction", ILLEGAL, "Invalid transition attempted")
    assert not told(client=client)


# Defaults and healthy values.


@pytest.mark.parametrize("release", ["0.11.0.3", "2.4.1", "3.9.1", "4.3.1"])
def test_nothing_that_a_client_or_broker_prints_by_default_alarms(release):
    client = {
        "acks": "1" if release < "3" else "-1", "delivery.timeout.ms": "120000", "linger.ms": "5",
        "max.block.ms": "60000",
        "request.timeout.ms": "30000", "retries": "2147483647", "transaction.timeout.ms": "60000",
        "transactional.id": NAME, "max.in.flight.requests.per.connection": "5",
        "enable.idempotence": "false" if release < "3" else "true",
    }  # fmt: skip
    cluster = {
        "node.id": "1", "transaction.max.timeout.ms": "900000", "transaction.state.log.min.isr": "2",
        "transaction.state.log.replication.factor": "3", "unclean.leader.election.enable": "false",
        "transactional.id.expiration.ms": "604800000", "producer.id.expiration.ms": "86400000",
        "offsets.topic.replication.factor": "3", "transaction.partition.verification.enable": "true",
    }  # fmt: skip
    reader = {"group.id": "g", "enable.auto.commit": "true", "isolation.level": "read_uncommitted"}
    blocks = [
        settings("client.log", "producer", client, 1),
        settings("broker-1/server.log", "broker", cluster, 1),
        settings("reader.log", "consumer", reader, 1),
    ]
    assert not told(*blocks, client=Client(release=release).start("10:00:00"))


def test_without_any_setting_it_says_that_it_could_not_look(classic):
    classic.init(NAME)
    classic.run(NAME, "orders-0")
    (result,) = check(classic.model())
    assert isinstance(result, NotCheckable)
    assert "server.properties" in result.missing
    assert "ProducerConfig values" in result.missing


def test_a_file_of_a_producer_cut_before_its_timeout_proves_nothing():
    whole, cut = producer(**LONG), settings("client.properties", "producer", {"transactional.id": NAME})
    limit = broker(node_id=1, **LIMIT)
    assert told(whole, limit)
    assert not told(cut, limit)


def test_many_producers_with_one_mistake_are_one_finding():
    files = [
        settings(f"client-{number}.properties", "producer", {"transactional.id": f"id-{number}", "acks": "1"})
        for number in range(20)
    ]
    finding = the(*files)
    assert (finding.count, finding.transactional_id, len(finding.subjects)) == (20, None, 3)
    assert "and 16 more have acks=1" in finding.summary
    assert finding.who == "id-0, id-1 and 18 more"


@pytest.mark.parametrize(
    ("error", "said", "config"),
    [
        ("InvalidTxnTimeoutException", "The transaction timeout is larger than the maximum", "transaction.timeout.ms"),
        ("TransactionalIdAuthorizationException", "Transactional Id authorization failed.", None),
        ("RecordTooLargeException", "The request included a message larger than the max", "max.request.size"),
    ],
)
def test_one_error_names_what_was_refused(error, said, config):
    told = [line("a.log", None, EventKind.failure, error=f"{ERRORS}{error}", detail=said)]
    found = only(check, by_logs(told))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.error)
    assert found.remedies[0].config == config


DENIED = f"{ERRORS}TransactionalIdAuthorizationException: Transactional Id authorization failed.\n"


@pytest.mark.parametrize(
    ("page", "name"),
    [
        (f"kafka-producer-perf-test.sh --topic a --transactional-id 'perf-1' --throughput -1\n{DENIED}", "perf-1"),
        (f"perf.sh --topic a --transactional-id=perf-1 -x\n{DENIED}\nwithout --transactional-id it runs", "perf-1"),
        (f"perf-test.sh --transactional-id a -x\nperf-test.sh --transactional-id b -x\n{DENIED}", None),
        (f"kafka-transactions.sh --bootstrap-server k:9092 describe --transactional-id a\n{DENIED}", None),
        (DENIED, None),
    ],
)
def test_the_id_that_was_denied_is_the_one_of_the_command_line(tmp_path, page, name):
    path = tmp_path / "page.md"
    path.write_text(page)
    (found,) = diagnose([path]).findings
    (remedy,) = found.finding.remedies
    assert found.finding.transactional_id == name
    assert (remedy.command is None) == (name is None)
    assert name is None or (name in found.finding.summary and remedy.command.endswith(f" --transactional-id {name}"))


def test_rights_of_a_plain_consumer_are_not_told():
    said = {"error": f"{ERRORS}GroupAuthorizationException", "detail": "Not authorized to access group: a"}
    told = [line("a.log", None, EventKind.failure, api="poll", **said)]
    assert not findings(check, by_logs(told))


def test_a_state_topic_with_more_replicas_than_brokers():
    told = [line("server.log", "10:00:00", EventKind.too_few_brokers, number=1, offset=3)]
    found = only(check, by_logs(told))
    assert found.verdict is Verdict.proved
    assert found.remedies[0].config == "transaction.state.log.replication.factor"


@pytest.mark.parametrize("said", ["Transaction topic number of partitions has changed from 50 to 100", "a disk"])
def test_a_state_topic_of_another_size_is_told_by_its_coordinator_alone(said):
    told = [line("server.log", "10:00:00", EventKind.state_append_failed, error="KafkaException", detail=said)]
    found = findings(check, by_logs(told))
    assert [(one.verdict, one.severity) for one in found] == [(Verdict.proved, Severity.error)] * said.startswith("T")
    assert all("from 50 to 100" in one.summary for one in found)


WAITED = "Topic orders not present in metadata after 60000 ms."
NO_SUCH = "orders=UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize(
    ("warned", "said", "verdict"),
    [
        (NO_SUCH, WAITED, Verdict.likely),
        (f"a=LEADER_NOT_AVAILABLE, {NO_SUCH}", WAITED, Verdict.likely),
        ("payments=UNKNOWN_TOPIC_OR_PARTITION", WAITED, None),
        ("orders=LEADER_NOT_AVAILABLE", WAITED, None),
        (None, WAITED, None),
        (
            None,
            "Partition 3 of topic orders with partition count 3 is not present in metadata after 1 ms.",
            Verdict.proved,
        ),
    ],
)
def test_a_topic_is_missing_where_brokers_say_so(warned, said, verdict):
    client = Client().start("10:00:00")
    if warned:
        client.say("10:00:01", EventKind.metadata_refused, detail=warned)
    model = by_logs(client.threw("10:01:01", "send", f"{ERRORS}TimeoutException", said).said)
    found = [one for one in findings(check, model) if "does not exist" in one.title]
    assert [one.verdict for one in found] == ([verdict] if verdict else [])
    unreachable = [one.verdict for one in findings(rule("broker_unreachable"), model)]
    assert unreachable == ([] if verdict else [Verdict.possible])


def test_a_group_that_commits_in_both_ways_is_told():
    said = line("server.log", "10:00:00", EventKind.mixed_commits, group="mailer")
    found = only(check, by_logs([said]))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.warning)
    assert found.summary.startswith("Group mailer commits its offsets in transactions")
