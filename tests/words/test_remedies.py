"""The calculators: the numbers of the design, rounded up, with their caps, side conditions and silences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.histories.logs.settings import Settings
from kafkatx.terms.catalogue.frameworks import Framework, FrameworkName
from kafkatx.terms.verdicts import Verdict
from kafkatx.text.events import Setting
from kafkatx.words import remedies
from kafkatx.words.config_context import ConfigContext, advised, changes_too
from kafkatx.words.explained import Remedy
from kafkatx.words.explanation import Phrase, measure
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.values import Duration
from tests.histories.log_facts import facts, settings
from tests.rules.cluster import DAY, HOUR, MINUTE, SECOND
from tests.rules.log_told import beside

ID = "orders-1"
UUID = "0f44002f-18c4-47dc-9161-0f0105243615"
MEASURED = Phrase(Lasted, measure("it ran {time}")).of(Lasted(Duration(64_000)))
STREAMS = Framework(FrameworkName.STREAMS_V2, Verdict.proved, "client.id")


def whom(framework: Framework | None = None, broker: dict[str, int] | None = None, **producer: int) -> ConfigContext:
    own = {"transactional.id": ID, **{key.replace("_", "."): str(value) for key, value in producer.items()}}
    said = [Setting("producer", name, value, 0, 1, 0) for name, value in own.items()]
    said += [Setting("broker", name, str(value), 1, 1, 0) for name, value in (broker or {}).items()]
    return ConfigContext(Settings(said), ID, framework)


def said(found: Remedies) -> tuple[Remedy, ...]:
    return tuple(remedy for bound in found if (remedy := bound.words.said(bound.facts)) is not None)


def proposals(found: tuple[Remedy, ...]) -> list[tuple[str | None, str | None]]:
    return [(remedy.config, remedy.proposed) for remedy in found]


# transaction.timeout.ms


@pytest.mark.parametrize(
    ("need", "outage", "proposed"),
    [
        (65 * SECOND, 0, 150_000),
        (20 * SECOND, 0, 90_000),
        (200 * SECOND, 0, 300_000),
        (200_001, 0, 330_000),
        (89_970, 89_970, 180_000),
        (40 * SECOND, 10 * SECOND, 150_000),
        (60 * SECOND, 200 * SECOND, 420_000),
    ],
)
def test_a_timeout_covers_the_need_the_outage_and_the_retries(need, outage, proposed):
    (remedy,) = said(remedies.transaction_timeout(whom(), need, MEASURED, outage))
    assert (remedy.config, remedy.current, remedy.proposed) == (
        "transaction.timeout.ms",
        "60000 (the default)",
        str(proposed),
    )
    assert "it ran 64 s" in remedy.derived_from
    assert "readers" in remedy.cost


def test_retries_that_are_known_to_take_longer_count():
    (remedy,) = said(remedies.transaction_timeout(whom(delivery_timeout_ms=300_000), 65 * SECOND, MEASURED))
    assert remedy.proposed == "330000"


def test_endless_retries_do_not_count():
    (remedy,) = said(remedies.transaction_timeout(whom(delivery_timeout_ms=2_147_483_647), 65 * SECOND, MEASURED))
    assert remedy.proposed == "150000"


def test_a_proposal_is_held_to_the_brokers_limit_while_the_need_fits():
    (remedy,) = said(
        remedies.transaction_timeout(whom(broker={"transaction.max.timeout.ms": 200_000}), 180 * SECOND, MEASURED)
    )
    assert remedy.proposed == "200000"
    assert "; brokers allow no more than 200000 (3 min 20 s)" in remedy.derived_from
    assert "rounded" not in remedy.derived_from


def test_a_need_above_the_limit_raises_the_limit_first_said_as_a_second_step():
    found = said(remedies.transaction_timeout(whom(), 16 * MINUTE, MEASURED))
    assert proposals(found) == [("transaction.timeout.ms", "1440000"), ("transaction.max.timeout.ms", "1440000")]
    assert [remedy.where for remedy in found] == ["client", "broker"]


def test_a_timeout_that_is_long_enough_is_not_raised():
    (remedy,) = said(remedies.transaction_timeout(whom(transaction_timeout_ms=600_000), 65 * SECOND, MEASURED))
    assert remedy.proposed is None
    assert "Commit more often" in remedy.text


def test_the_coordinators_rows_outweigh_a_file():
    rows = ConfigContext(whom(transaction_timeout_ms=1).settings, ID, None, {"transaction.timeout.ms": 45_000})
    assert said(remedies.transaction_timeout(rows, 65 * SECOND, MEASURED))[0].current == "45000"


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 10**9))
def test_no_proposal_is_below_what_was_measured_or_above_a_limit_unsaid(need, outage, limit):
    found = said(
        remedies.transaction_timeout(whom(broker={"transaction.max.timeout.ms": limit}), need, MEASURED, outage)
    )
    first = found[0]
    if first.proposed is not None:
        assert int(first.proposed) >= min(need, limit)
        assert int(first.proposed) <= limit or int(found[1].proposed) >= int(first.proposed)


def test_the_same_facts_give_the_same_words():
    assert said(remedies.transaction_timeout(whom(), 65_000, MEASURED)) == said(
        remedies.transaction_timeout(whom(), 65_000, MEASURED)
    )


def test_the_limit_is_raised_to_a_minute_and_only_if_it_is_in_the_way():
    assert proposals(said(remedies.max_transaction_timeout(whom(), 900_001, MEASURED))) == [
        ("transaction.max.timeout.ms", "960000")
    ]
    assert not said(remedies.max_transaction_timeout(whom(), 900_000, MEASURED))


# The others.


def test_delivery_outlasts_an_outage_and_the_transaction_outlasts_delivery():
    found = said(remedies.delivery_timeout(whom(), 100 * SECOND, MEASURED))
    assert proposals(found) == [("delivery.timeout.ms", "150000"), ("transaction.timeout.ms", "210000")]
    assert not said(remedies.delivery_timeout(whom(), 80 * SECOND, MEASURED))
    room = whom(transaction_timeout_ms=600_000)
    assert proposals(said(remedies.delivery_timeout(room, 100 * SECOND, MEASURED))) == [
        ("delivery.timeout.ms", "150000")
    ]


def test_max_block_waits_for_a_failover_and_old_clients_wait_for_ever_anyway():
    assert proposals(said(remedies.max_block(whom(), 50 * SECOND, MEASURED))) == [("max.block.ms", "90000")]
    assert not said(remedies.max_block(whom(), 30 * SECOND, MEASURED))
    old = ConfigContext(Settings(), ID, None, {}, (2, 2, 2))
    assert not said(remedies.max_block(old, 50 * SECOND, MEASURED))


@pytest.mark.parametrize(
    ("gap", "proposed"),
    [(int(7.717 * DAY), 1_209_600_000), (7 * DAY, 14 * DAY), (15 * DAY, 21 * DAY), (23 * DAY, 2_147_483_647)],
)
def test_ids_are_kept_whole_weeks_above_their_longest_idle_time_up_to_what_an_int_holds(gap, proposed):
    assert proposals(said(remedies.id_expiration(whom(), gap, MEASURED))) == [
        ("transactional.id.expiration.ms", str(proposed))
    ]


def test_ids_that_are_kept_long_enough_are_left():
    assert not said(remedies.id_expiration(whom(), 3 * DAY, MEASURED))


def test_a_time_that_no_expiration_covers_asks_for_heartbeats():
    (remedy,) = said(remedies.id_expiration(whom(), 40 * DAY, MEASURED))
    assert remedy.proposed is None
    assert "now and then" in remedy.text


def test_an_id_that_expired_before_the_default_shows_that_the_default_is_not_set():
    (remedy,) = said(remedies.id_expiration(whom(), DAY, MEASURED, is_default=False))
    assert (remedy.current, remedy.proposed) == (None, str(7 * DAY))


def test_producers_are_remembered_longer_or_ids_are_where_that_is_one_setting():
    (remedy,) = said(remedies.producer_expiration(whom(), 50 * HOUR, MEASURED))
    assert (remedy.config, remedy.proposed, remedy.restart_needed) == (
        "producer.id.expiration.ms",
        str(50 * HOUR),
        False,
    )
    old = ConfigContext(Settings((), (), (2, 8)), ID)
    found = said(remedies.producer_expiration(old, 9 * DAY, MEASURED))
    assert proposals(found) == [("transactional.id.expiration.ms", str(14 * DAY))]


@pytest.mark.parametrize(
    ("timeouts", "proposed"), [([4_000], "1334"), ([2_000, 9_000], "1000"), ([30_000], None), ([], None)]
)
def test_the_coordinator_looks_three_times_in_the_shortest_timeout(timeouts, proposed):
    found = said(remedies.cleanup_interval(whom(), timeouts, MEASURED))
    assert [remedy.proposed for remedy in found] == ([proposed] if proposed else [])


def test_polls_get_more_time_or_fewer_records():
    found = said(remedies.max_poll(whom(), 400 * SECOND, MEASURED, records=500))
    assert proposals(found) == [("max.poll.interval.ms", "600000"), ("max.poll.records", "250")]
    assert not said(remedies.max_poll(whom(), 100 * SECOND, MEASURED))


def test_transactions_take_a_third_of_the_timeout():
    (remedy,) = said(remedies.commit_interval(whom(STREAMS), 9_000, 10_000, MEASURED, 9_000))
    assert (remedy.config, remedy.current, remedy.proposed) == ("commit.interval.ms", "9000", "3333")
    (plain,) = said(remedies.commit_interval(whom(), 9_000, 10_000, MEASURED))
    assert plain.config is None
    assert plain.proposed == "a commit every 3.33 s"
    assert not said(remedies.commit_interval(whom(), 3_333, 10_000, MEASURED))


def test_a_storm_is_answered_with_twice_the_interval():
    (remedy,) = said(remedies.larger_transactions(whom(STREAMS), 100, MEASURED))
    assert (remedy.config, remedy.proposed) == ("commit.interval.ms", "200")


def test_the_coordinators_log_gets_three_replicas_where_there_are_three_brokers():
    weak = whom(broker={"transaction.state.log.min.isr": 1, "transaction.state.log.replication.factor": 3})
    assert proposals(said(remedies.state_log_replication(weak, 3, MEASURED))) == [
        ("transaction.state.log.min.isr", "2")
    ]
    assert not said(remedies.state_log_replication(weak, 2, MEASURED))


# In whose terms, and in which order.


@pytest.mark.parametrize(
    ("framework", "config", "said_as"),
    [
        (FrameworkName.STREAMS_V2, "producer.transaction.timeout.ms", "(Kafka Streams)"),
        (FrameworkName.CONNECT_TASK, "producer.override.transaction.timeout.ms", "(Kafka Connect source task)"),
        (FrameworkName.AIOKAFKA, "transaction_timeout_ms", "(aiokafka)"),
    ],
)
def test_a_setting_is_proposed_in_the_frameworks_own_terms(framework, config, said_as):
    (remedy,) = said(
        remedies.transaction_timeout(whom(Framework(framework, Verdict.proved, "")), 65 * SECOND, MEASURED)
    )
    assert remedy.config == config
    assert said_as in remedy.text


def test_a_framework_is_not_named_where_it_calls_the_setting_as_kafka_does():
    librdkafka = Framework(FrameworkName.LIBRDKAFKA, Verdict.proved, "")
    (remedy,) = said(remedies.transaction_timeout(whom(librdkafka), 65 * SECOND, MEASURED))
    assert remedy.config == "transaction.timeout.ms"
    assert "librdkafka" not in remedy.text


def test_a_guess_is_said_to_be_one():
    guess = Framework(FrameworkName.STREAMS_V2, Verdict.likely, "")
    assert "(probably Kafka Streams)" in said(remedies.transaction_timeout(whom(guess), 65 * SECOND, MEASURED))[0].text


def test_a_framework_has_defaults_of_its_own():
    assert said(remedies.transaction_timeout(whom(STREAMS), 65 * SECOND, MEASURED))[0].current.startswith(
        "10000 (the default"
    )


@pytest.mark.parametrize(
    ("need", "outage", "known", "words"),
    [
        (65 * SECOND, 0, {}, "two request timeouts, rounded up to 2 min 30 s"),
        (200 * SECOND, 0, {}, "1.5 times that, rounded up to 5 min"),
        (60 * SECOND, 200 * SECOND, {}, "twice the outage of 3 min 20 s, rounded up to 7 min"),
        (65 * SECOND, 0, {"delivery_timeout_ms": 300_000}, "delivery.timeout.ms + request.timeout.ms, rounded up to"),
    ],
)
def test_what_decided_the_timeout_is_said(need, outage, known, words):
    (remedy,) = said(remedies.transaction_timeout(whom(**known), need, MEASURED, outage))
    assert words in remedy.derived_from


@pytest.mark.parametrize(
    ("outage", "begins"),
    [(0, "Find out"), (SECOND, "Find out"), (40 * SECOND, "Raise the transaction timeout above such an out")],
)
def test_an_outage_is_the_reason_where_it_took_the_time(outage, begins):
    assert said(remedies.transaction_timeout(whom(), 65 * SECOND, MEASURED, outage))[0].text.startswith(begins)


# What must change too.


def test_settings_that_stay_in_order_are_not_spoken_of():
    assert changes_too(whom(), {"transaction.timeout.ms": 180_000}) is None
    assert "order" not in said(remedies.transaction_timeout(whom(), 65 * SECOND, MEASURED))[0].derived_from


def test_what_somebody_chose_and_a_proposal_leaves_out_of_order_must_change_too():
    too = changes_too(whom(delivery_timeout_ms=400_000), {"transaction.timeout.ms": 180_000})
    assert too == "Lower delivery.timeout.ms below 180000 (3 min) as well"
    endless = whom(delivery_timeout_ms=2_000_000_000)
    (remedy,) = said(remedies.transaction_timeout(endless, 65 * SECOND, MEASURED))
    assert remedy.text.endswith(". Lower delivery.timeout.ms below 150000 (2 min 30 s) as well")


def test_defaults_that_were_out_of_order_before_do_not_alarm():
    assert changes_too(whom(), {"transaction.timeout.ms": 90_000}) is None
    printed = [Setting("producer", "transactional.id", ID, 0, 1, 0, is_printed=True)]
    printed.append(Setting("producer", "delivery.timeout.ms", "2147483647", 0, 2, 0, is_printed=True))
    of_streams = ConfigContext(Settings(printed), ID, STREAMS)
    assert changes_too(of_streams, {"transaction.timeout.ms": 90_000}) is None
    assert changes_too(ConfigContext(Settings(printed), ID), {"transaction.timeout.ms": 90_000}) is not None


def test_what_a_proposal_itself_puts_out_of_order_must_change_too_whoever_chose_it():
    assert changes_too(whom(), {"producer.id.expiration.ms": 9 * DAY}) == (
        f"Raise transactional.id.expiration.ms to at least {9 * DAY} (9 d) as well"
    )
    short = whom(delivery_timeout_ms=4_000)
    assert (
        changes_too(short, {"delivery.timeout.ms": 60_000}) == "Raise transaction.timeout.ms above 60000 (60 s) as well"
    )


def test_what_must_change_too_has_the_frameworks_name():
    streams = whom(STREAMS, delivery_timeout_ms=400_000)
    assert "Lower producer.delivery.timeout.ms below" in str(changes_too(streams, {"transaction.timeout.ms": 180_000}))


def test_sends_of_librdkafka_may_take_as_long_as_the_transaction():
    librdkafka = whom(Framework(FrameworkName.LIBRDKAFKA, Verdict.proved, ""), delivery_timeout_ms=90_000)
    assert changes_too(librdkafka, {"transaction.timeout.ms": 90_000}) is None


def test_whom_it_is_for_is_gathered_from_the_capture(classic):
    name = f"app-{UUID}-1"
    classic.init(name, timeout_ms=10 * SECOND)
    classic.run(name, "orders-0", "app-store-changelog-0")
    model = beside(classic, facts([], blocks=[settings("app.properties", "streams", {"application.id": "app"})]))
    found = advised(model, name)
    assert found.framework is not None
    assert (found.framework.name, found.framework.certainty) == (FrameworkName.STREAMS_V2, Verdict.proved)
    assert found.current == {"transaction.timeout.ms": 10 * SECOND}
    assert advised(model, "never-seen").current == {}
