"""What is said of a cause that fits: why it does, what speaks against it here, and what would decide."""

from __future__ import annotations

from collections.abc import Sequence

from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import Bound, ConsideredWords, Phrase, left_open
from kafkatx.words.template import Text, pick, render
from kafkatx.words.values import Duration, NameList, Quoted


@dataclass(frozen=True, slots=True)
class CandidateFacts:
    """What of the evidence speaks for and against causes.

    `age` is the time from the beginning of the transaction (else from the client's initialisation) to the failure,
    `timeout` the client's transaction.timeout.ms, configured or default; `idle` how long the client had logged nothing
    before, where that is at least the default of transactional.id.expiration.ms; `defect` the known defect whose lines
    these may be, of which product (`defect_of`), what it is and by which rule it is told; `has_rolled_over`: the
    client had raised its epoch by itself; `is_said_alone`: somebody says that nobody else has the id, `is_own_id`:
    the id holds a UUID; `said` what somebody says on the page that speaks for the cause.
    """

    age: Duration | None = None
    timeout: Duration | None = None
    idle: Duration | None = None
    has_other_instance: bool = False
    has_rolled_over: bool = False
    is_said_alone: bool = False
    is_own_id: bool = False
    defect: str | None = None
    defect_of: str | None = None
    defect_is: str | None = None
    defect_rule: str | None = None
    said: Quoted | None = None

    @property
    def is_late(self) -> bool:
        """Whether the transaction was older than its timeout allows."""
        return self.age is not None and self.timeout is not None and self.age >= self.timeout

    @property
    def is_early(self) -> bool:
        """Whether its timeout was far away."""
        return self.age is not None and self.timeout is not None and 2 * self.age <= self.timeout


ROWS = "the records of the id in __transaction_state, or the coordinator's log of that time,"
OF_LEADER = "the log of the partition's leader at that time"
OF_CLIENT = "the client's log before this line"

KNOWN = "{defect_of} has a known defect that shows itself so ({defect}): {defect_is}"
SAID = "[; the text says {said}]"


MOST_IN_TITLE = 2
"""Causes that a title names."""


def in_title(rules: Sequence[str]) -> str | None:
    """The causes that fit best, as titles name them; None of none."""
    return " or ".join(rule.replace("_", " ") for rule in rules[:MOST_IN_TITLE]) or None


def _candidate(
    rule: str, because: Text, decided_by: str, against: Text | None = None
) -> tuple[str, Phrase[CandidateFacts, ConsideredWords]]:
    return rule, Phrase(CandidateFacts, left_open(rule, (because, SAID), decided_by, against=against))


CANDIDATES = dict(
    (
        _candidate(
            "fenced_by_new_instance",
            pick(
                "has_other_instance",
                {True: "this evidence shows another instance of the id; a newer one fences the older ones"},
                "when a newer instance calls initTransactions with the same id, the older one gets this error",
            ),
            ROWS,
            pick(
                "is_late",
                {True: "the transaction was {age} old, its timeout is {timeout}"},
                pick(
                    "is_said_alone",
                    {True: "by somebody's words no other instance has this id"},
                    pick("is_own_id", {True: "the id holds a UUID: another process makes another one"}),
                ),
            ),
        ),
        _candidate(
            "transaction_timed_out",
            pick(
                "is_late",
                {True: "the transaction was {age} old, its timeout is {timeout}"},
                "the coordinator aborts a transaction that is older than transaction.timeout.ms; then its producer "
                "gets this error",
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
            pick(
                "has_rolled_over",
                {True: "the client raised its epoch by itself again and again; nobody else owns its producer id"},
                "a producer id whose epochs are used up is replaced, and the old one is refused",
            ),
            ROWS,
        ),
        _candidate(
            "shared_producer",
            "two owners of one id, or two threads with one producer object, disturb each other",
            "logs of all instances that are configured with the id",
        ),
        _candidate(
            "unresolved_sequence",
            "a batch got no answer in its time, so the client cannot know the next sequence number",
            OF_CLIENT,
        ),
        _candidate(
            "sequence_gap",
            "batches that the client had counted as written are missing at the leader: lost or reordered",
            OF_LEADER,
        ),
        _candidate("duplicate_sequence", "a batch was sent again after it had been written", OF_LEADER),
        _candidate(
            "producer_state_expired",
            "the leader had forgotten the producer (retention, or producer.id.expiration.ms)",
            OF_LEADER,
        ),
        _candidate(
            "broker_unreachable",
            "calls end in this way when a broker or the network is down",
            "the logs of the brokers at that time",
        ),
        _candidate(
            "coordinator_unavailable",
            "the coordinator was loading, moving, or could not write its log",
            "the logs of the brokers at that time",
        ),
        _candidate(
            "concurrent_transactions_storm",
            "while the transaction before has not ended, every call is answered CONCURRENT_TRANSACTIONS",
            "the state of the id now",
        ),
        _candidate(
            "stuck_prepare",
            "the transaction before is decided, but a marker is missing",
            "the state of the id now",
        ),
        _candidate(
            "commit_outcome_unknown",
            "the call before got no answer, and must be made again before any other",
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
            "settings, permissions or releases that do not fit are refused in this way",
            "the settings of the client and of the brokers",
        ),
        _candidate(
            "aborted_by_client",
            "abortTransaction drops the records that were not sent yet",
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
            "its coordinator no longer knows a transaction, and the partition's readers wait for it",
            "kafka-transactions.sh find-hanging",
        ),
        _candidate(
            "open_transaction",
            "a transaction is still open",
            "kafka-transactions.sh list and describe",
        ),
        _candidate(
            "read_committed_blocked",
            "read_committed readers wait at an open transaction",
            "kafka-transactions.sh describe-producers for the partition",
        ),
        _candidate(
            "inconsistent_transaction_state",
            "the coordinator's state and the markers contradict each other",
            "the records of the id in __transaction_state",
        ),
        _candidate(
            "producer_id_collision",
            "two transactional.ids got the same producer id",
            "the records of all ids in __transaction_state",
        ),
        _candidate(
            "zombie_coordinator",
            "the former coordinator went on writing after another broker had taken over",
            "the logs of both brokers",
        ),
        _candidate(
            "pending_offset_commit",
            "the group waits for offsets of a transaction that has not ended",
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
            "the records of the id in __transaction_state",
        ),
        _candidate(
            "unstable_transactional_id",
            "an id that is another one at each start, or for each piece of work, is kept until it expires, and a new "
            "instance does not end what the old one left open",
            "the ids in __transaction_state",
        ),
        _candidate(
            "atomicity_violation",
            "a transaction was committed in one partition and not in another one",
            "the markers of the transaction in all its partitions",
        ),
        _candidate(
            "client_bug",
            pick("defect", {None: "this release of the client has a known bug of this kind"}, KNOWN),
            "the release of the client library",
        ),
        _candidate(
            "broker_bug",
            pick("defect", {None: "this release of the brokers has a known bug of this kind"}, KNOWN),
            "the release of the brokers",
        ),
    )
)
"""What is said of each cause, by rule; some are mechanisms that no rule looks for yet."""


@dataclass(frozen=True, slots=True)
class SpokenFacts:
    """A cause for which only somebody's words speak: why it fits them, which they are, and what would decide."""

    rule: str
    because: str
    words: NameList
    decided_by: str | None


SPOKEN = Phrase(SpokenFacts, left_open("{rule}", "{because}: {words}", "{decided_by}"))
"""What is said of such a cause."""


def spoken_candidate(rule: str, because: str, words: tuple[str, ...]) -> Bound[ConsideredWords]:
    """Say why a cause fits somebody's words; what would decide is that of the same cause anywhere else."""
    quoted = NameList(f"{Quoted(word)}" for word in words)
    return SPOKEN.of(SpokenFacts(rule, because, quoted, render(CANDIDATES[rule].words.decided_by, CandidateFacts())))
