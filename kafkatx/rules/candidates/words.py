"""What is said of a cause that fits: why it does, what speaks against it here, and what would decide."""

from __future__ import annotations

from dataclasses import dataclass

from kafkatx.words.explanation import ConsideredWords, Phrase, left_open
from kafkatx.words.template import Text, pick
from kafkatx.words.values import Duration


@dataclass(frozen=True, slots=True)
class CandidateFacts:
    """What of the evidence speaks for and against causes.

    `age` is the time from the beginning of the transaction (else from the client's initialisation) to the failure,
    `timeout` the client's transaction.timeout.ms, configured or default; `idle` how long the client had logged nothing
    before, where that is at least the default of transactional.id.expiration.ms.
    """

    age: Duration | None = None
    timeout: Duration | None = None
    idle: Duration | None = None
    has_other_instance: bool = False

    @property
    def is_late(self) -> bool:
        """Whether the transaction was older than its timeout allows."""
        return self.age is not None and self.timeout is not None and self.age >= self.timeout

    @property
    def is_early(self) -> bool:
        """Whether its timeout was far away."""
        return self.age is not None and self.timeout is not None and 2 * self.age <= self.timeout


ROWS = "the rows of the id in __transaction_state, or the coordinator's log of that time,"
OF_LEADER = "the log of the partition's leader at that time"
OF_CLIENT = "the client's log before this line"

AGED = "[; it was {age} old, its timeout is {timeout}]"


def _candidate(
    rule: str, because: Text, decided_by: str, against: Text | None = None
) -> tuple[str, Phrase[CandidateFacts, ConsideredWords]]:
    return rule, Phrase(CandidateFacts, left_open(rule, because, decided_by, against=against))


CANDIDATES = dict(
    (
        _candidate(
            "fenced_by_new_instance",
            pick(
                "has_other_instance",
                {True: "another instance of the id is in this evidence, and a newer one fences the older ones"},
                "initTransactions of a newer instance with the same id refuses the older one by this error",
            ),
            ROWS,
            pick("is_late", {True: "the transaction was {age} old, its timeout is {timeout}"}),
        ),
        _candidate(
            "transaction_timed_out",
            pick(
                "is_late",
                {True: "the transaction was {age} old, its timeout is {timeout}"},
                "the coordinator aborts a transaction past transaction.timeout.ms and then refuses its producer so",
            ),
            ROWS,
            pick("is_early", {True: "it failed {age} after it began, its timeout is {timeout}"}),
        ),
        _candidate(
            "transactional_id_expired",
            (
                "the coordinator forgets an id that was idle for transactional.id.expiration.ms, 7 days by default",
                "[; the client had logged nothing for {idle}]",
            ),
            ROWS,
        ),
        _candidate(
            "producer_epoch_exhausted",
            "a producer id whose epochs are used up is replaced, and the old one is refused",
            ROWS,
        ),
        _candidate(
            "shared_producer",
            "two owners of one id, or two threads with one producer object, get in each other's way",
            "logs of all instances that are configured with the id",
        ),
        _candidate(
            "unresolved_sequence",
            "a batch was given up without an answer, so the next sequence number is not known",
            OF_CLIENT,
        ),
        _candidate(
            "sequence_gap",
            "the leader misses batches that the client had counted as written: data lost or reordered",
            OF_LEADER,
        ),
        _candidate("duplicate_sequence", "a batch was sent again after it had been written", OF_LEADER),
        _candidate(
            "producer_state_expired",
            "the leader had dropped what it knew of the producer, by retention or producer.id.expiration.ms",
            OF_LEADER,
        ),
        _candidate(
            "broker_unreachable",
            "a broker that does not answer, or a network that does not carry, ends calls in this way",
            "the logs of the brokers at that time",
        ),
        _candidate(
            "coordinator_unavailable",
            "the coordinator was loading, moving, or could not write its log",
            "the logs of the brokers at that time",
        ),
        _candidate(
            "concurrent_transactions_storm",
            "the transaction before had not ended yet, and every call was answered CONCURRENT_TRANSACTIONS",
            "the state of the id now",
        ),
        _candidate(
            "stuck_prepare",
            "the transaction before is decided, but a marker is missing",
            "the state of the id now",
        ),
        _candidate(
            "commit_outcome_unknown",
            "the call before got no answer and has to be made again before any other",
            OF_CLIENT,
        ),
        _candidate(
            "fenced_by_group_generation",
            "the consumer behind the offsets had lost its place in the group",
            "the log of the consumer at that time",
        ),
        _candidate(
            "partition_verification_failed",
            "the leader could not verify with the coordinator that the partition is in the transaction",
            OF_LEADER,
        ),
        _candidate(
            "misconfiguration",
            "settings, permissions or releases that do not go together are refused in this way",
            "the settings of the client and of the brokers",
        ),
        _candidate(
            "aborted_by_client",
            "abortTransaction drops what was not sent yet",
            OF_CLIENT,
        ),
        _candidate(
            "api_misuse",
            "the call does not fit the state of the producer: the transaction before was not ended, or not begun",
            OF_CLIENT,
        ),
        _candidate(
            "log_directory_failed",
            "a log directory of the broker failed",
            "the logs of the brokers at that time",
        ),
        _candidate(
            "hanging_transaction",
            "a transaction that its coordinator no longer knows keeps the partition's readers waiting",
            "kafka-transactions.sh find-hanging",
        ),
        _candidate(
            "open_transaction",
            "a transaction is still open",
            "kafka-transactions.sh list and describe",
        ),
        _candidate(
            "read_committed_blocked",
            "readers of read_committed wait before an open transaction",
            "kafka-transactions.sh describe-producers for the partition",
        ),
        _candidate(
            "inconsistent_transaction_state",
            "the coordinator's state and the markers do not fit each other",
            "the rows of the id in __transaction_state",
        ),
        _candidate(
            "producer_id_collision",
            "two ids were given one producer id",
            "the rows of all ids in __transaction_state",
        ),
        _candidate(
            "zombie_coordinator",
            "a broker that was coordinator before wrote on after another one had taken over",
            "the logs of both brokers",
        ),
        _candidate(
            "pending_offset_commit",
            "offsets of a transaction that has not ended keep the group waiting",
            "kafka-transactions.sh describe-producers for the group's partition of __consumer_offsets",
        ),
        _candidate(
            "damaged_index",
            "a file beside the log (.snapshot, .txnindex, .index) is damaged",
            "kafkatx verify on the directory of the partition",
        ),
        _candidate(
            "producer_restarted_empty",
            "the coordinator's state was lost, or the client talks to another cluster",
            "the rows of the id in __transaction_state",
        ),
        _candidate(
            "client_bug",
            "the client's release is known for it",
            "the release of the client library",
        ),
        _candidate(
            "broker_bug",
            "the brokers' release is known for it",
            "the release of the brokers",
        ),
    )
)
"""What is said of each cause, by rule; some are mechanisms that no rule looks for yet."""
