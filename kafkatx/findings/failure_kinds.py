"""Kinds of failures that say by themselves which mechanisms show themselves so: lines of brokers, and calls.

Source  ReplicaManager, ProducerAppendInfo, TransactionCoordinator, TransactionStateManager, markers and cleaner:
        TransactionMarkerChannelManager, LogCleaner (0.11 to 4.3); KafkaProducer for the calls.
"""

from __future__ import annotations

from kafkatx.terms.catalogue.entries import ClientException, ProtocolError
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.text.error_messages.sayings import damaged_file, names_too_few_in_sync
from kafkatx.text.logs.calls import FENCING


@dataclass(frozen=True, slots=True)
class BrokerFailure:
    """What a kind of line of a broker says has failed: a name for it, and the mechanisms that show themselves so.

    `is_grave`: a part of the broker stopped; `is_harmless`: the broker refused what should be refused.
    """

    name: str
    candidates: tuple[str, ...]
    is_grave: bool = False
    is_harmless: bool = False


OLD_EPOCH = ("fenced_by_new_instance", "transaction_timed_out")
OF_BROKERS = {
    EventKind.marker_given_up: BrokerFailure("a marker was given up", ("stuck_prepare", "hanging_transaction")),
    EventKind.timeout_rollback_failed: BrokerFailure(
        "a transaction past its timeout could not be aborted", ("coordinator_unavailable", "stuck_prepare")
    ),
    EventKind.bad_transition: BrokerFailure(
        "the coordinator's state did not fit", (*OLD_EPOCH, "inconsistent_transaction_state", "broker_bug")
    ),
    EventKind.init_fenced: BrokerFailure("InitProducerId of an old epoch was refused", OLD_EPOCH),
    EventKind.stale_epoch: BrokerFailure("a write with an old epoch was refused", OLD_EPOCH),
    EventKind.sequence_refused: BrokerFailure(
        "a write out of order was refused", ("sequence_gap", "unresolved_sequence", "producer_state_expired")
    ),
    EventKind.zombie_coordinator: BrokerFailure(
        "a marker of an old coordinator was refused", ("zombie_coordinator",), is_harmless=True
    ),
    EventKind.unknown_producer: BrokerFailure("the leader no longer knew the producer", ("producer_state_expired",)),
    EventKind.verification_failed: BrokerFailure(
        "a partition could not be verified", ("partition_verification_failed", "coordinator_unavailable")
    ),
    EventKind.unsupported_format: BrokerFailure("records met an old message format", ("misconfiguration",)),
    EventKind.coordinator_load_failed: BrokerFailure(
        "a coordinator could not load", ("coordinator_unavailable", "log_directory_failed"), is_grave=True
    ),
    EventKind.state_append_failed: BrokerFailure(
        "the coordinator could not write its log", ("coordinator_unavailable", "broker_unreachable")
    ),
    EventKind.storage_failed: BrokerFailure("storage failed", ("log_directory_failed",), is_grave=True),
    EventKind.cleaner_stopped: BrokerFailure(
        "the log cleaner stopped", ("damaged_index", "log_directory_failed"), is_grave=True
    ),
    EventKind.coordinator_inconsistent: BrokerFailure(
        "the coordinator found an inconsistent state", ("inconsistent_transaction_state", "broker_bug"), is_grave=True
    ),
    EventKind.expiry_failed: BrokerFailure("an expired id could not be removed", ("coordinator_unavailable",)),
    EventKind.id_allocation_failed: BrokerFailure(
        "a broker could not get producer ids", ("coordinator_unavailable", "broker_unreachable")
    ),
    EventKind.too_few_brokers: BrokerFailure("__transaction_state could not be created", ("misconfiguration",)),
    EventKind.transaction_mixed: BrokerFailure("a plain batch came within a transaction", ("api_misuse",)),
}
"""Kinds of lines of brokers that tell of a failure."""
OF_CALLS = {
    "initTransactions": ("coordinator_unavailable", "misconfiguration", "broker_unreachable"),
    "beginTransaction": ("api_misuse", "shared_producer"),
    "commitTransaction": ("coordinator_unavailable", "transaction_timed_out", "broker_unreachable"),
    "abortTransaction": ("coordinator_unavailable", "api_misuse", "broker_unreachable"),
    "sendOffsetsToTransaction": ("fenced_by_group_generation", "coordinator_unavailable", "transaction_timed_out"),
    "send": ("broker_unreachable", "misconfiguration", "api_misuse"),
    "flush": ("broker_unreachable", "unresolved_sequence"),
    FENCING: ("coordinator_unavailable", "broker_unreachable", "misconfiguration"),
}
"""What makes a call fail, the commonest first, where the error names nothing."""
UNEXPECTED = "UNKNOWN_SERVER_ERROR"
"""What a broker answers where it met an error that has no code: its mechanisms are the broker's alone."""
OF_UNEXPECTED = {True: ("misconfiguration", "broker_bug"), False: ("coordinator_unavailable", "broker_bug")}
"""What makes a broker answer so: to writes (a message format without producer ids) and to all other requests."""
WRITES = frozenset({"send", "flush"})
OF_FATAL = {
    True: ("transaction_timed_out", "fenced_by_new_instance", "transactional_id_expired"),
    False: ("sequence_gap", "unresolved_sequence", "producer_state_expired"),
}
"""What makes a producer of librdkafka fatal, the commonest first: a transactional one, and one that is idempotent."""
OF_ECHOES = OF_FATAL[True][:2]
"""What fails first, mostly, where only the calls behind it are told."""
ECHOES = (
    "in an error state", "previous transactional or idempotent request has failed with errors", "in state FatalError",
)  # fmt: skip
"""Words of a call that was refused since one before it had failed."""
OF_REFUSED_ABORTS = ("commit_outcome_unknown", "api_misuse", "client_bug")
"""What makes a coordinator refuse an abort for its state: a commit had gone through, or it knows of no transaction that
was begun (TransactionCoordinator.endTransaction: CompleteCommit, PrepareCommit, Empty)."""
OF_SEARCHES = ("coordinator_unavailable", "broker_unreachable")
"""What makes a client look for its coordinator without end."""
OF_WAITS = ("coordinator_unavailable", "stuck_prepare", "broker_unreachable")
"""What makes a coordinator refuse one request again and again."""
OF_SENT = frozenset({"unresolved_sequence", "sequence_gap", "commit_outcome_unknown"})
"""Mechanisms of batches and of ends: no cause of a request that comes before them."""
OF_EPOCHS = (EventKind.init_fenced, EventKind.stale_epoch)
BY_ERROR = (
    EventKind.init_refused, EventKind.end_refused, EventKind.add_refused, EventKind.append_refused,
    EventKind.request_seen,
)  # fmt: skip
"""Kinds of lines of brokers whose error says what it is."""
OF_REFUSALS = {
    EventKind.init_refused: ("coordinator_unavailable", "stuck_prepare"),
    EventKind.end_refused: ("coordinator_unavailable", "stuck_prepare"),
    EventKind.add_refused: ("coordinator_unavailable", "concurrent_transactions_storm"),
    EventKind.append_refused: ("broker_unreachable", "transaction_timed_out"),
}
"""What makes a broker refuse with an error that is its own and not the protocol's, where it warns of it."""
REFUSED = {
    EventKind.init_refused: "InitProducerId was refused",
    EventKind.end_refused: "EndTxn was refused",
    EventKind.add_refused: "AddPartitionsToTxn was refused",
    EventKind.append_refused: "a write was refused",
}
"""What is told of a refusal whose error the text has lost."""
WAIT = "a call that waited"
"""Stands for whichever call of a transaction waited in vain, where its name is cut off."""
CALLED = {
    "initTransactions": frozenset({"init", "initTransactions"}),
    "commitTransaction": frozenset({"commit", "commitTransaction"}),
    "abortTransaction": frozenset({"abort", "abortTransaction"}),
    "sendOffsetsToTransaction": frozenset({"sendOffsets", "sendOffsetsToTransaction"}),
    "send": frozenset({"send"}),
    WAIT: frozenset({"init", "commit", "abort"}),
}
"""How the catalogue names the calls that throw an error."""


def names_call(entry: ClientException, call: str | None) -> bool:
    """Whether a row of the catalogue says that a call throws it."""
    words = "".join(sign if sign.isalpha() else " " for sign in entry.raised_by).split()
    return not CALLED.get(call or "", frozenset()).isdisjoint(words)


def thrown_by(found: tuple[ClientException, ...], call: str | None) -> tuple[ClientException, ...]:
    """Of rows that one class has in common, those that the call can throw; all where none names it."""
    return tuple(entry for entry in found if names_call(entry, call)) or found


def of_state(message: str, call: str | None, known: ProtocolError | None) -> tuple[str, ...]:
    """Mechanisms of calls that the state refused: of an echo those of what failed before it, of an abort its own."""
    if any(words in message for words in ECHOES):
        return OF_ECHOES
    is_abort = call == "abortTransaction" and known is not None
    return OF_REFUSED_ABORTS if is_abort and known is not None and known.name == "INVALID_TXN_STATE" else ()


def of_words(message: str) -> tuple[str, ...]:
    """Mechanisms that a broker's own words leave, where they say more than its error; none where they don't."""
    if damaged_file(message) is not None:
        return ("log_directory_failed", "damaged_index")
    return ("broker_unreachable", "misconfiguration") if names_too_few_in_sync(message) else ()
