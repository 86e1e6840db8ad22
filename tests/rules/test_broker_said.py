"""What a broker says of itself in one line: its state, its epochs."""

from kafkatx.terms.verdicts import Verdict
from tests.rules.broker_lines import found

FAILED = (
    "[2024-03-01 10:00:00,000] ERROR [KafkaApi-0] Error when handling request x (kafka.server.KafkaApis)\n"
    "java.lang.IllegalStateException: TransactionalId pay-1 failed transition to state TxnTransitMetadata(x) "
    "due to unexpected metadata\n\tat kafka.coordinator.transaction.TransactionMetadata.x(T.scala:390)\n"
)
EXHAUSTED = (
    "[2024-03-01 10:00:00,000] ERROR [KafkaApi-0] Error when handling request x (kafka.server.KafkaApis)\n"
    "java.lang.IllegalStateException: Cannot allocate any more producer epochs for producerId 99013\n"
)


def test_a_transition_that_should_not_happen(tmp_path):
    (finding,) = found(tmp_path, "inconsistent_transaction_state", FAILED)
    assert (finding.verdict, finding.transactional_id) == (Verdict.likely, "pay-1")


def test_an_epoch_that_can_not_be_raised(tmp_path):
    (finding,) = found(tmp_path, "producer_epoch_exhausted", EXHAUSTED)
    assert finding.verdict is Verdict.likely
