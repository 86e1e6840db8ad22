"""transactional_id_expired by logs: the error after a pause, by the expiration in force, and what refutes it."""

import pytest

from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import DAY, ERRORS, facts, line, settings
from tests.rules.cluster import DAY as ONE_DAY
from tests.rules.cluster import HOUR, SECOND, START
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check = rule("transactional_id_expired")

MAPPING = f"{ERRORS}InvalidPidMappingException"
COMMITTER = "org.apache.flink.connector.kafka.sink.internal.KafkaCommitter"
TEN_SECONDS = settings("server.properties", "broker", {"broker.id": "1", "transactional.id.expiration.ms": "10000"})


def met(idle_ms, release="3.9.1", exception=MAPPING):
    client = Client(release=release).start(DAY)
    return client.threw(DAY + idle_ms, "commitTransaction", exception)


def test_after_a_pause_longer_than_the_expiration_it_is_likely():
    found = only(check, by_logs(facts(met(16_000).said, blocks=[TEN_SECONDS])))
    assert (found.verdict, found.transactional_id) == (Verdict.likely, "orders-1")
    assert (found.since, found.until) == (DAY, DAY + 16_000)
    assert "16 s" in found.summary


def test_without_the_setting_the_default_of_seven_days_counts():
    assert only(check, by_logs(met(16_000).said)).verdict is Verdict.possible
    assert only(check, by_logs(met(8 * ONE_DAY).said)).verdict is Verdict.likely


def test_a_short_pause_is_never_called_an_expiry():
    found = only(check, by_logs(met(710).said))
    assert "had expired" not in found.summary
    assert "deleted, or its data was lost" in found.summary
    assert found.title == "producer id no longer known"
    assert {one.rule for one in found.considered if not one.refuted} >= {"producer_epoch_exhausted"}
    assert not any(remedy.config for remedy in found.remedies)


@pytest.mark.parametrize(("release", "severity"), [("2.0.1", Severity.error), ("3.9.1", Severity.warning)])
def test_it_is_an_error_where_the_client_dies_of_it(release, severity):
    found = only(check, by_logs(facts(met(16_000, release).said, blocks=[TEN_SECONDS])))
    assert found.severity is severity


def test_the_expiration_proposed_is_above_the_pause():
    *_, remedy = only(check, by_logs(met(8 * ONE_DAY).said)).remedies
    assert (remedy.config, remedy.proposed) == ("transactional.id.expiration.ms", str(14 * ONE_DAY))


def test_a_new_producer_id_afterwards_is_a_step():
    client = met(16_000).given(DAY + 17_000, 9, 0)
    found = only(check, by_logs(facts(client.said, blocks=[TEN_SECONDS])))
    assert "producer id 9 instead of 7" in found.steps[-1].text


def test_another_error_after_a_pause_is_no_expiry():
    assert not findings(check, by_logs(met(8 * ONE_DAY, exception=f"{ERRORS}UnknownProducerIdException").said))


def test_a_context_that_names_another_id_tells_nothing():
    """Flink goes on with a producer under a new id, its log keeps the first one."""
    client = met(16_000)
    client.say(DAY + 1, Kind.producer_id_set, producer_id=9, producer_epoch=0)
    granted = [entry for entry in client.said if entry.kind is Kind.client_release]
    broker = [
        type(entry)("broker-1/server.log", DAY + 1, Kind.initialized, entry.level, None,
                    {"transactional_id": "other-2", "producer_id": 9, "producer_epoch": 0, "partition": 1}, None)
        for entry in granted
    ]  # fmt: skip
    assert not findings(check, by_logs(facts([*client.said, *broker], blocks=[TEN_SECONDS])))


def test_rows_that_go_on_with_the_same_producer_id_refute_it(classic):
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.commit("orders-1")
    classic.wait(HOUR)
    classic.begin("orders-1", "orders-0")
    classic.commit("orders-1")
    client = Client().start(START - 5, classic.ids["orders-1"].producer_id)
    client.threw(START + 60 * SECOND, "commitTransaction", MAPPING)
    assert not findings(check, beside(classic, client.said))


def expired(cluster):
    cluster.init("orders-1")
    cluster.begin("orders-1", "orders-0")
    cluster.commit("orders-1")
    producer = cluster.ids["orders-1"].producer_id
    cluster.wait(12 * SECOND)
    cluster.expire("orders-1")
    cluster.wait(5 * SECOND)
    cluster.init("orders-1")
    return Client().start(START - 5, producer).threw(START + 16 * SECOND, "commitTransaction", MAPPING)


def test_rows_and_the_error_of_one_expiry_are_one_finding(classic):
    found = only(check, beside(classic, facts(expired(classic).said)))
    assert (found.verdict, found.severity, found.count) == (Verdict.likely, Severity.error, 1)
    assert any(place.source == "client.log" for place in found.places())


def test_the_brokers_setting_proves_a_tombstone_of_that_age(classic):
    found = only(check, beside(classic, facts(expired(classic).said, blocks=[TEN_SECONDS])))
    assert found.verdict is Verdict.proved


def test_a_log_that_begins_with_the_error_speaks_against_no_pause():
    """The error says that the id is not mapped any more: expired, unless something else is seen."""
    client = Client().threw(DAY, "commitTransaction", MAPPING)
    found = only(check, by_logs(facts(client.said, blocks=[TEN_SECONDS])))
    assert found.verdict is Verdict.likely


def test_a_committable_of_a_checkpoint_names_its_own_producer_id():
    failed = "Failed to commit KafkaCommittable{producerId=70233, epoch=0, transactionalId=hits-0-90114}"
    named = {"transactional_id": "hits-0-90114", "producer_id": 70_233, "producer_epoch": 0}
    error = line("tm.log", "10:00:18.355", Kind.failure, error=MAPPING, logger=COMMITTER)
    wrapper = line("tm.log", "10:00:18.371", Kind.failure, error="x.StateException", detail=failed, logger=COMMITTER)
    wrapper.columns.update(named)
    assert only(check, by_logs([error, wrapper])).verdict is Verdict.likely


EXPIRED_BATCH = {"error": f"{ERRORS}TimeoutException", "detail": "Expiring 12 record(s) for a-3:8010 ms has passed "
                 "since batch creation"}  # fmt: skip


@pytest.mark.parametrize(
    "before",
    [
        line("a.log", None, Kind.batch_expired, **EXPIRED_BATCH),
        line("a.log", None, Kind.produce_retry, error="NETWORK_EXCEPTION", topic="a", partition=3),
        line("a.log", None, Kind.failure, **EXPIRED_BATCH),
    ],
)
def test_who_was_sending_a_moment_before_had_no_expired_id(before):
    error = line("a.log", None, Kind.failure, error=MAPPING, detail="The producer attempted to use a producer id")
    assert only(check, by_logs([error])).verdict is Verdict.likely
    assert only(check, by_logs([before, error])).verdict is Verdict.possible


def test_a_producer_without_a_transactional_id_has_none_that_could_expire():
    said = {"error": MAPPING, "detail": "The producer attempted to use a producer id"}
    assert not findings(check, by_logs([line("a.log", None, Kind.to_fatal, client_id="w", **said)]))
    assert findings(check, by_logs([line("a.log", None, Kind.to_fatal, **said)]))
