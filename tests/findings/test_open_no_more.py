"""Nobody is told to abort a transaction that is aborted already, or that never was."""

import pytest

from kafkatx.local.diagnosis import diagnose

WHO = "[Producer clientId=b, transactionalId=bills-2]"
MANAGER = "org.apache.kafka.clients.producer.internals.TransactionManager"
GIVEN = f"2022-05-04 10:00:01,100 INFO {WHO} ProducerId set to 7 with epoch 1 ({MANAGER})\n"
OUT_OF_ORDER = (
    f"2022-05-04 10:00:09,100 INFO {WHO} Transiting to abortable error state due to "
    "org.apache.kafka.common.errors.OutOfOrderSequenceException: The broker received an out of order sequence number. "
    f"({MANAGER})\n"
)
VERIFIED = (
    f"2022-05-04 10:00:09,100 INFO {WHO} Transiting to abortable error state due to "
    "org.apache.kafka.common.errors.TransactionAbortableException: The server encountered an error with the "
    f"transaction. The client can abort the transaction to continue using this transactional ID. ({MANAGER})\n"
)
ABORTED = (
    f"2022-05-04 10:00:09,300 INFO {WHO} Aborting incomplete transaction "
    "(org.apache.kafka.clients.producer.KafkaProducer)\n"
)
ROLLED_BACK = (
    "[2022-05-04 10:00:09,400] INFO [TransactionCoordinator id=1] Completed rollback of ongoing transaction for "
    "transactionalId bills-2 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
NOT_ABORTED = (
    f"2022-05-04 10:00:09,500 ERROR {WHO} abort failed\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting EndTxn(false)\n"
    "\tat org.apache.kafka.clients.producer.KafkaProducer.abortTransaction(KafkaProducer.java:800)\n"
)


def advice(folder, *texts):
    """What is to be done, by all findings of some lines."""
    path = folder / "app.log"
    path.write_text("".join(texts))
    return " ".join(one.text for found in diagnose([path]).findings for one in found.finding.remedies)


ADVISED = ("Abort the transaction", "Call abortTransaction,")


@pytest.mark.parametrize("failure", [OUT_OF_ORDER, VERIFIED])
def test_an_open_transaction_is_to_be_aborted(tmp_path, failure):
    assert any(one in advice(tmp_path, GIVEN, failure) for one in ADVISED)


@pytest.mark.parametrize("failure", [OUT_OF_ORDER, VERIFIED])
@pytest.mark.parametrize("over", [ABORTED, ROLLED_BACK])
def test_what_is_aborted_is_not_to_be_aborted(tmp_path, failure, over):
    said = advice(tmp_path, GIVEN, failure, over)
    assert said
    assert not any(one in said for one in ADVISED)


def test_an_abort_that_failed_leaves_it_open(tmp_path):
    assert "Abort the transaction" in advice(tmp_path, GIVEN, OUT_OF_ORDER, ABORTED, NOT_ABORTED)


def test_an_abort_before_the_failure_was_of_another_transaction(tmp_path):
    before = ABORTED.replace("10:00:09,300", "10:00:05,300")
    assert "Abort the transaction" in advice(tmp_path, GIVEN, before, OUT_OF_ORDER)


PLAIN = "[Producer clientId=b]"


@pytest.mark.parametrize("is_told", [True, False])
def test_a_client_without_transactions_has_none_to_abort(tmp_path, is_told):
    made = f"2022-05-04 10:00:01,000 INFO {PLAIN} Instantiated an idempotent producer. "
    made += "(org.apache.kafka.clients.producer.KafkaProducer)\n"
    failed = OUT_OF_ORDER.replace(WHO, PLAIN).replace("Transiting to abortable", "Transiting to fatal")
    said = advice(tmp_path, made if is_told else "", failed)
    assert ("Abort the transaction" in said) is not is_told
