"""producer_state_expired: UNKNOWN_PRODUCER_ID of either side, TV2's refusal; not what a coordinator forgot."""

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, line
from tests.rules.log_told import Client, by_logs, findings, only, rule

check = rule("producer_state_expired")
UNKNOWN = f"{ERRORS}UnknownProducerIdException"


def test_a_fatal_client_was_forgotten():
    client = Client().start("10:00:00").fatal("10:00:40", UNKNOWN, "could not locate the producer metadata")
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity, found.producer_id) == (Verdict.likely, Severity.error, 7)
    assert "probably" in found.summary


def test_the_leader_tells_it():
    told = line("server.log", "10:00:00", EventKind.unknown_producer, side=Side.broker, producer_id=9, topic="a",
                partition=1)  # fmt: skip
    found = only(check, by_logs([told]))
    assert (found.verdict, found.severity, found.producer_id, found.topic) == (Verdict.likely, Severity.warning, 9, "a")


def test_a_forgotten_id_is_the_coordinators():
    client = Client().start("10:00:00").fatal("10:00:40", f"{ERRORS}InvalidPidMappingException", "not assigned")
    assert not findings(check, by_logs(client.said))


UNMAPPED = (
    "org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id which is "
    "not currently assigned to its transactional id.\n"
)
BRACKET = (
    "2026-03-01 10:00:01,200 ERROR [Producer clientId=p-1] Transiting to fatal error state due to {}"
    "(org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)


@pytest.mark.parametrize(
    ("page", "rule", "verdict"),
    [
        (UNMAPPED, "transactional_id_expired", "likely"),
        ("Event Hubs restarted, then we got:\n" + UNMAPPED, "producer_state_expired", "possible"),
        ("It has enable.idempotence=true and retries=1.\n" + UNMAPPED, "producer_state_expired", "possible"),
        ("It has enable.idempotence=false.\n" + UNMAPPED, "transactional_id_expired", "likely"),
        ("Our transactional producer, on Event Hubs:\n" + UNMAPPED, "transactional_id_expired", "likely"),
        ("The idempotent producer is for exactly-once.\n" + UNMAPPED, "transactional_id_expired", "likely"),
        (BRACKET.format(UNMAPPED.strip() + " "), "producer_state_expired", "likely"),
        (
            BRACKET.format(UNMAPPED.strip() + " ").replace("clientId=p-1", "clientId=p-1, transactionalId=p"),
            "transactional_id_expired",
            "likely",
        ),
    ],
)
def test_a_producer_without_an_id_was_forgotten_by_another_product(page, rule, verdict, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(page)
    (found,) = document(kafkatx.diagnose([path]), "t")["findings"]
    assert (found["rule"], found["verdict"]) == (rule, verdict)
    assert ("Event Hubs" in found["summary"]) is (rule == "producer_state_expired")


def test_without_the_error_nothing_is_said():
    assert not findings(check, by_logs(Client().start("10:00:00").said))


@pytest.mark.parametrize("repair", [EventKind.init_bump, EventKind.idempotent_bump, EventKind.sequence_reset])
def test_an_idempotent_client_that_went_on_by_itself_was_repaired(repair):
    refused = line("a.log", "10:00:00", EventKind.failure, client_id="w", error=UNKNOWN, detail="could not locate")
    bump = line("a.log", "10:00:01", repair, client_id="w")
    died = line("a.log", "10:00:02", EventKind.to_fatal, client_id="w", error=UNKNOWN, detail="could not locate")
    assert only(check, by_logs([refused, bump])).severity is Severity.info
    assert only(check, by_logs([refused])).severity is Severity.error
    assert only(check, by_logs([bump, refused])).severity is Severity.error
    assert only(check, by_logs([refused, bump, died])).severity is Severity.error
