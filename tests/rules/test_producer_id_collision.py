"""producer_id_collision: a broker or a controller meets a block of producer ids that it had passed."""

from kafkatx.terms.verdicts import Severity, Verdict
from tests.rules.broker_lines import found
from tests.rules.cluster import HOUR, Cluster

RULE = "producer_id_collision"
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
