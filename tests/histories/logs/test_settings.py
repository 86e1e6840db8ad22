"""Settings in force: whose they are, what stands before what, and defaults by release."""

import pytest

from kafkatx.histories.logs.build import build_log_model
from kafkatx.histories.logs.settings import Origin, Settings, default_of, defaults_of, plain_value, release_of
from kafkatx.terms.events import EventKind
from kafkatx.text.events import Setting
from tests.histories.log_facts import Given, facts, line, settings
from tests.rules.log_told import Client

TIMEOUT = "transaction.timeout.ms"


def given(*blocks: Given) -> Settings:
    return build_log_model(facts([], blocks=blocks)).settings


def producer(path: str = "client.properties", at_line: int | None = None, **values: str) -> Given:
    named = {key.replace("_", "."): value for key, value in values.items()}
    return settings(path, "producer", {"transactional.id": "orders-1", **named}, at_line)


# What stands before what.


def test_a_file_says_what_was_set():
    found = given(producer(transaction_timeout_ms="5000")).value("producer", TIMEOUT, "orders-1")
    assert (found.value, found.number, found.origin, found.is_known, found.is_chosen) == (
        "5000", 5000, Origin.EXPLICIT, True, True,
    )  # fmt: skip
    assert (found.setting.line, str(found)) == (1, "5000")


def test_what_the_program_printed_stands_against_a_file_that_was_changed_later():
    found = given(producer(transaction_timeout_ms="5000"), producer("client.log", 3, transaction_timeout_ms="9000"))
    assert (found.value("producer", TIMEOUT, "orders-1").value) == "9000"


def test_a_file_that_says_the_same_is_what_is_cited():
    found = given(producer(transaction_timeout_ms="5000"), producer("client.log", 3, transaction_timeout_ms="5000"))
    assert found.value("producer", TIMEOUT, "orders-1").origin is Origin.EXPLICIT


def test_what_nobody_says_is_the_default_and_is_marked():
    found = given(producer()).value("producer", TIMEOUT, "orders-1")
    assert (found.value, found.origin, found.is_known, found.is_chosen) == ("60000", Origin.DEFAULT, False, False)
    assert (str(found), f"{found:plain}", f"{found}") == (
        "60000 (the default)", "60000 (the default)", "60000 (60 s, the default)",
    )  # fmt: skip


def test_a_printed_default_is_nobodys_choice():
    found = given(producer("client.log", 3, transaction_timeout_ms="60000")).value("producer", TIMEOUT, "orders-1")
    assert (found.origin, found.is_known, found.is_chosen) == (Origin.PRINTED, True, False)


def test_the_default_of_any_release_is_nobodys_choice_where_the_release_is_unknown():
    for acks, chosen in (("1", False), ("-1", False), ("0", True)):
        assert given(producer("client.log", 3, acks=acks)).value("producer", "acks", "orders-1").is_chosen is chosen


def test_one_release_has_one_default():
    client = Client(release="2.8.2").start("10:00:00")
    model = build_log_model(facts(client.said, blocks=[producer(linger_ms="1")]))
    assert model.settings.value("producer", "acks", model.clients[0]).value == "1"
    assert model.settings.value("producer", "acks", "orders-1").origin is Origin.PERHAPS_DEFAULT


def test_a_name_that_stands_twice_in_a_file_counts_as_it_stood_last():
    twice = [Setting("producer", name, value, 0, number, 0) for number, (name, value) in enumerate(
        [("transactional.id", "orders-1"), ("acks", "1"), ("acks", "all")], 1)]  # fmt: skip
    assert Settings(twice).value("producer", "acks", "orders-1").value == "all"


# Whose they are.


def test_two_files_of_one_id_that_contradict_each_other_say_nothing():
    one, other = producer("a.properties", acks="1", linger_ms="7"), producer("b.properties", acks="all", linger_ms="7")
    found = given(one, other)
    assert found.value("producer", "acks", "orders-1").origin is Origin.PERHAPS_DEFAULT
    assert found.value("producer", "linger.ms", "orders-1").value == "7"


def test_a_prefix_of_spring_names_all_ids_that_begin_with_it():
    spring = settings("application.yml", "producer", {
        "spring.kafka.producer.transaction-id-prefix": "ship-1-",
        "spring.kafka.producer.properties.transaction.timeout.ms": "5000",
    })  # fmt: skip
    assert given(spring).value("producer", TIMEOUT, "ship-1-0").value == "5000"
    assert given(spring).value("producer", TIMEOUT, "shop-0").origin is Origin.DEFAULT


def test_names_of_other_languages_are_the_same_settings():
    python = settings("client.properties", "producer", {"transactional_id": "kpy", "transaction_timeout_ms": "5000"})
    assert given(python).value("producer", TIMEOUT, "kpy").number == 5000


def test_an_id_of_nobody_has_no_settings_of_others():
    assert given(producer(acks="0")).value("producer", "acks", "orders-2").origin is Origin.PERHAPS_DEFAULT


def brokers(*values: str, name: str = "min.insync.replicas") -> Settings:
    return given(*(
        settings(f"server-{number}.properties", "broker", {"node.id": str(number), name: value})
        for number, value in enumerate(values, 1)
    ))  # fmt: skip


def test_a_broker_is_asked_by_its_number_and_the_cluster_where_all_agree():
    assert brokers("1", "2").value("broker", "min.insync.replicas", 2).value == "2"
    assert brokers("2", "2").value("broker", "min.insync.replicas").value == "2"
    assert brokers("1", "2").value("broker", "min.insync.replicas").origin is Origin.DIFFERS
    assert brokers("1", "2").broker_ids() == [1, 2]


def test_one_broker_that_says_nothing_does_not_contradict():
    found = given(
        settings("server-1.properties", "broker", {"node.id": "1", "min.insync.replicas": "2"}),
        settings("server-2.properties", "broker", {"node.id": "2"}),
    )
    assert found.value("broker", "min.insync.replicas").value == "2"


def test_the_brokers_release_decides_their_defaults():
    row = line("broker-1/server.log", "10:00:00", EventKind.broker_release, detail="2.4.1")
    model = build_log_model(facts([row], blocks=[settings("server-1.properties", "broker", {"node.id": "1"})]))
    interval = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
    assert model.settings.release == (2, 4, 1)
    assert model.settings.value("broker", interval).value == "60000"


# Defaults and values.


@pytest.mark.parametrize(
    ("scope", "name", "release", "value", "origin"),
    [
        ("producer", "acks", (3, 9, 1), "all", Origin.DEFAULT),
        ("producer", "acks", (2, 8), "1", Origin.DEFAULT),
        ("producer", "acks", (), "all", Origin.PERHAPS_DEFAULT),
        ("producer", "linger.ms", (4, 0), "5", Origin.DEFAULT),
        ("broker", "producer.id.expiration.ms", (3, 3), None, Origin.UNKNOWN),
        ("broker", "producer.id.expiration.ms", (3, 4), "86400000", Origin.DEFAULT),
        ("streams", "transaction.timeout.ms", (3, 9), "10000", Origin.DEFAULT),
        ("broker", "no.such.setting", (), None, Origin.UNKNOWN),
    ],
)
def test_defaults_follow_the_release_or_say_that_they_may_differ(scope, name, release, value, origin):
    found = default_of(scope, name, release)
    assert (found.value, found.origin) == (value, origin)


def test_all_defaults_are_known_where_no_release_is():
    assert defaults_of("producer", "acks") == ("1", "all")


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [
        ("acks", "-1", "all"),
        ("a", "null", None),
        ("a", "", None),
        ("a", " TRUE ", "true"),
        ("a", "X", "X"),
        ("a", None, None),
    ],
)
def test_a_value_has_one_spelling(name, value, plain):
    assert plain_value(name, value) == plain


@pytest.mark.parametrize(
    ("said", "printed", "release"),
    [(["3.9.1"], "2.8-IV1", (3, 9, 1)), ([None], "2.8-IV1", (2, 8)), ([], "", ()), ([], "0.11.0-IV2", (0, 11, 0))],
)
def test_the_release_is_what_the_broker_says_or_prints(said, printed, release):
    own = [Setting("broker", "inter.broker.protocol.version", printed, 0, 1, 0, True)] if printed else []
    assert release_of(own, said) == release


def test_numbers_and_switches_that_are_none_are_none():
    odd = given(producer(transaction_timeout_ms="soon")).value("producer", TIMEOUT, "orders-1")
    assert (odd.number, odd.is_true) == (None, False)


def test_every_setting_that_stands_somewhere_is_listed_with_its_default():
    found = {one.name: (one.value, one.defaults, block.source) for block, one in given(producer(acks="1")).in_force()}
    assert found["acks"] == ("1", ("1", "all"), 0)
