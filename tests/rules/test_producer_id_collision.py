"""producer_id_collision: a broker or a controller meets a block of producer ids that it had passed."""

from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import line
from tests.rules.broker_lines import found
from tests.rules.cluster import HOUR, Cluster
from tests.rules.log_told import by_logs, findings, only, rule

RULE = "producer_id_collision"
check = rule(RULE)
OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
WENT_BACK = (
    "[2024-03-01 10:00:00,000] ERROR [RPC ProducerId Manager 1]: Producer ID block is not monotonic with current "
    "block: current=ProducerIdsBlock(assignedBrokerId=1, firstProducerId=418000, size=1000) "
    "response=AllocateProducerIdsResponseData(throttleTimeMs=0, errorCode=0, producerIdStart=402000, "
    "producerIdLen=1000) ({logger})\n"
)
LATE = (
    "[2024-03-01 10:00:00,000] WARN [RPC ProducerId Manager 1]: Timed out when requesting AllocateProducerIds from the "
    "controller. (kafka.coordinator.transaction.RPCProducerIdManager)\n"
)


def test_the_brokers_words_make_it_likely(tmp_path):
    logger = "kafka.coordinator.transaction.RPCProducerIdManager"
    (finding,) = found(tmp_path, RULE, WENT_BACK.format(logger=logger))
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.error)


def test_a_controller_that_does_not_answer_is_none(tmp_path):
    assert not found(tmp_path, RULE, LATE, LATE)
    assert found(tmp_path, "coordinator_unavailable", LATE, LATE)


def test_a_cut_line_is_none(tmp_path):
    assert not found(tmp_path, RULE, WENT_BACK[:70] + "\n")


def test_two_ids_with_one_producer_id_in_the_same_time(tmp_path):
    cluster = Cluster(tmp_path)
    cluster.init("alpha")
    cluster.next_producer_id -= 1
    cluster.init("beta")
    cluster.run("alpha", "orders-0")
    finding = cluster.tell().only(RULE)
    assert (finding.verdict, finding.severity, finding.producer_id) == (Verdict.likely, Severity.error, 7_000)
    assert "alpha, beta" in finding.summary


def test_an_id_that_came_when_the_other_had_gone_is_none(tmp_path):
    cluster = Cluster(tmp_path)
    cluster.init("alpha")
    cluster.run("alpha", "orders-0")
    cluster.wait(HOUR)
    cluster.next_producer_id -= 1
    cluster.init("beta")
    cluster.run("beta", "orders-1")
    assert not cluster.tell().of(RULE)


def test_each_id_with_a_producer_id_of_its_own_is_none(tmp_path):
    cluster = Cluster(tmp_path)
    cluster.init("alpha")
    cluster.init("beta")
    cluster.run("alpha", "orders-0")
    cluster.run("beta", "orders-0")
    assert not cluster.tell().of(RULE)


def given(client: str, producer_id: int, second: int, error: str | None = None) -> list:
    """Lines of a librdkafka producer that was given a producer id, and perhaps refused."""
    names = {"client_id": f"{client}#producer-1", "side": Side.client}
    grant = line("a.log", second * 1_000, EventKind.producer_id_set, producer_id=producer_id, producer_epoch=0, **names)
    refused = [line("a.log", second * 1_000 + 900, EventKind.to_fatal, error=error, thrown=error, **names)]
    return [grant, *(refused if error else [])]


def test_one_epoch_given_to_two_clients_one_of_which_is_refused_is_likely():
    found = only(check, by_logs([*given("auth", 12003, 10), *given("audit", 12003, 90, OUT_OF_ORDER)]))
    assert (found.verdict, found.producer_id) == (Verdict.likely, 12003)
    assert "auth#producer-1 and audit#producer-1" in found.summary


def test_without_a_refusal_it_is_possible():
    assert only(check, by_logs([*given("auth", 12003, 10), *given("audit", 12003, 90)])).verdict is Verdict.possible


def test_a_first_id_of_a_cluster_one_client_or_two_ids_are_none():
    assert not findings(check, by_logs([*given("auth", 3, 10), *given("audit", 3, 90, OUT_OF_ORDER)]))
    assert not findings(check, by_logs([*given("auth", 12003, 10), *given("auth", 12003, 90, OUT_OF_ORDER)]))
    assert not findings(check, by_logs([*given("auth", 12003, 10), *given("audit", 12004, 90, OUT_OF_ORDER)]))


def test_the_coordinators_grants_to_two_ids_are_told():
    told = [
        line("server.log", at, EventKind.initialized, transactional_id=name, producer_id=12003, producer_epoch=epoch)
        for at, name, epoch in ((1_000, "orders-0", 4), (9_000, "bills-0", 0), (10_000, "orders-0", 5))
    ]
    found = only(check, by_logs(told))
    assert {subject.transactional_id for subject in found.subjects} == {"orders-0", "bills-0"}
