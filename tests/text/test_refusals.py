import pytest

from kafkatx.text.error_messages.misuses import Misuse, MisuseKind, misuse_in
from kafkatx.text.error_messages.refusals import Refusal, refusal_in


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("InvalidTxnTimeoutException: The transaction timeout is larger than the maximum value allowed by the broker",
         Refusal.timeout_above_limit),
        ("kerr.InvalidTransactionTimeout", Refusal.timeout_above_limit),
        ("kafka server: Transactional ID authorization failed", Refusal.id_denied),
        ("KafkaError{FATAL,code=CLUSTER_AUTHORIZATION_FAILED}", Refusal.cluster_denied),
        ("TopicAuthorizationException: Not authorized to access topics: [a]", Refusal.topic_denied),
        ("Broker: Message size too large (MSG_SIZE_TOO_LARGE)", Refusal.too_large),
        ("The broker does not support INIT_PRODUCER_ID", Refusal.old_broker),
        ("Transactions not supported by any of the 1 connected broker(s): requires Apache Kafka", Refusal.old_broker),
        ("The broker does not support METADATA", Refusal.controller),
        ("The broker does not support METADATA with version in range [9,9]. The supported range is [0,8].", None),
        ("The request was sent to an endpoint of the wrong type.", Refusal.controller),
        ("The broker does not support DESCRIBE_PRODUCERS", Refusal.old_for_tool),
        ("`acks` must be set to `all` when `enable.idempotence` is true", Refusal.acks),
        ("Cannot set a transactional.id without also enabling idempotence.", Refusal.without_idempotence),
        ("Cannot set transactional_id without enable_idempotence.", Refusal.without_idempotence),
        ("`message.timeout.ms` must be set <= `transaction.timeout.ms`", Refusal.message_timeout),
        ("SRMSG18027: Pooled producer pool exhausted (max-pool-size=10) on channel `a`.", Refusal.pool),
        ("Too many ongoing snapshots. Increase kafka producers pool size or decrease number", Refusal.pool),
        ("To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5. Current "
         "value is 10.", Refusal.in_flight),
        ("Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent producer.",
         Refusal.in_flight),
        ("Cannot set transaction.timeout.ms when transaction.two.phase.commit.enable is set to true.", Refusal.endless),
        ("ConfigException: Invalid value exactly_once_v3 for configuration processing.guarantee: String must be one of",
         Refusal.value),
        ("ConfigException: Invalid value lz5 for configuration compression.type: Unknown compression name", None),
        ("Transaction timeout 10000 was set lower than streams commit interval 30000.", Refusal.commit_interval),
        ("This worker does not have exactly-once source support enabled.", Refusal.not_enabled),
        ("Broker unexpectedly doesn't support requireStable flag on version 6", Refusal.old_for_groups),
        ("RuntimeException: Incompatible KafkaProducer version", Refusal.other_release),
        ("NoClassDefFoundError: org/apache/kafka/clients/producer/KafkaProducer", Refusal.other_release),
        ("NoClassDefFoundError: com/acme/Sink", None),
        ("NOT_ENOUGH_REPLICAS", None),
        ("MESSAGE_TOO_LARGE_TO_BE_TRUE", None),
    ],
)  # fmt: skip
def test_an_error_names_what_was_refused(text, refusal):
    assert refusal_in(text) is refusal


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Invalid transition attempted from state IN_TRANSACTION to state IN_TRANSACTION", MisuseKind.begun_inside),
        ("Invalid transition attempted from state READY to state COMMITTING_TRANSACTION", MisuseKind.not_begun),
        ("Invalid transition attempted from state UNINITIALIZED to state IN_TRANSACTION", MisuseKind.not_initialised),
        (
            "Invalid state transition TransactionState.READY -> TransactionState.ABORTING_TRANSACTION",
            MisuseKind.not_begun,
        ),
        (
            "Cannot perform a 'send' before completing a call to initTransactions when transactions are enabled.",
            MisuseKind.not_initialised,
        ),
        ("Operation not valid in state InTransaction", MisuseKind.begun_inside),
        ("There is already an ongoing transaction for this producer.", MisuseKind.begun_inside),
        ("SRMSG18020: A transaction is already in progress for channel `audit-tx`", MisuseKind.begun_inside),
        ('Transaction state exception: Cannot call "commit" in state "READY"', MisuseKind.not_begun),
        ("Cannot perform operation after producer has been closed", MisuseKind.closed),
        ("Failed to produce message (5 bytes): Local: Erroneous state", MisuseKind.unnamed),
        ("transaction manager: invalid transition attempted", MisuseKind.other),
        ("Simultaneous commit_transaction API calls not allowed", MisuseKind.at_once),
    ],
)
def test_a_library_names_the_wrong_state(text, kind):
    found = misuse_in(text)
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize(
    "text",
    [
        "Invalid transition attempted from state FATAL_ERROR to state ABORTING_TRANSACTION",
        "Invalid transition attempted from state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION",
        "Invalid transition attempted from state READY to state ABORTABLE_ERROR",
        "Operation not valid in state FatalError",
        "Operation not valid in state AbortingTransaction",
        "Failed to seek: Local: Erroneous state",
        "BUG: Invalid transaction state transition attempted",
    ],
)
def test_a_state_that_an_error_left_is_no_misuse(text):
    assert misuse_in(text) is None


def test_the_state_is_told_as_the_library_names_it():
    assert misuse_in("Operation not valid in state Ready: commit_transaction") == Misuse(MisuseKind.not_begun, "Ready")


def test_a_second_request_of_kafkajs_meets_the_first_one():
    found = misuse_in('Transaction state exception: Cannot call "beginTransaction" in state "COMMITTING"')
    assert found == Misuse(MisuseKind.at_once, "COMMITTING")
