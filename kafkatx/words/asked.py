"""Evidence that would decide what is open: what it is, why, where it lies and the command that gets it.

Commands take two names from the shell: `$LOG_DIR` is a broker's log.dirs, `$BOOTSTRAP` the address of a broker.
Source  bin/kafka-dump-log.sh, bin/kafka-transactions.sh (3.0 and later), bin/kafka-consumer-groups.sh;
        TransactionCoordinator (the lines that a coordinator logs).
"""

from __future__ import annotations

import shlex
from enum import Enum, auto

from kafkatx.terms.records import dataclass
from kafkatx.words.template import Text, pick, render
from kafkatx.words.tools import answers


class Ask(Enum):
    """Kinds of evidence that can be asked for."""

    state_rows = auto()
    coordinator_log = auto()
    other_instances = auto()
    client_log = auto()
    client_settings = auto()
    describe = auto()
    describe_producers = auto()
    find_hanging = auto()
    partition_dump = auto()
    leader_log = auto()
    broker_logs = auto()
    consumer_log = auto()


@dataclass(frozen=True, slots=True)
class AskFacts:
    """Whom it is asked about; `state_partition` is the id's of `partitions` in __transaction_state.

    `is_counted` says whether their number is known: else it is the default, 50. `client_until` is where the log of the
    id's client that is at hand ends, where that is before what is asked about.
    """

    transactional_id: str | None = None
    producer_id: int | None = None
    topic: str | None = None
    partition: int | None = None
    state_partition: int | None = None
    partitions: int | None = None
    is_counted: bool = False
    when: str | None = None
    client_until: str | None = None

    @property
    def id(self) -> str | None:
        """The id as a shell takes it."""
        return None if self.transactional_id is None else shlex.quote(self.transactional_id)

    @property
    def in_lines(self) -> str | None:
        """The id as lines of Java's client have it: without what stands before it a short one is a word of any text."""
        return None if self.transactional_id is None else shlex.quote(f"transactionalId={self.transactional_id}")

    @property
    def in_settings(self) -> str | None:
        """The id as the configuration has it that clients print."""
        return None if self.transactional_id is None else shlex.quote(f"transactional.id = {self.transactional_id}")

    @property
    def granted(self) -> str | None:
        """What the coordinator logs when it gives the id an epoch."""
        name = self.transactional_id
        return None if name is None else shlex.quote(f"Initialized transactionalId {name} ")

    @property
    def rolled_back(self) -> str | None:
        """What it logs when the id's transaction has passed its timeout."""
        name = self.transactional_id
        return None if name is None else shlex.quote(f"transactionalId {name} due to timeout")

    @property
    def place(self) -> str | None:
        """The partition."""
        return None if self.topic is None or self.partition is None else f"{self.topic}-{self.partition}"

    @property
    def quoted_topic(self) -> str | None:
        """The topic as a shell takes it."""
        return None if self.topic is None else shlex.quote(self.topic)

    @property
    def quoted_place(self) -> str | None:
        """The partition's folder as a shell takes it."""
        return None if self.place is None else shlex.quote(self.place)


@dataclass(frozen=True, slots=True)
class AskWords:
    """What is said of one kind of evidence; a kind whose facts are absent is not asked for.

    `asks` is what kafka-transactions.sh is called for, which not all brokers answer.
    """

    what: Text
    why: Text
    where: Text
    command: Text | None = None
    asks: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing to bring next."""

    kind: Ask
    what: str
    why: str
    where: str
    command: str | None


DEFAULT_COUNT = pick("is_counted", {False: " (of 50 partitions, the default)"}, "")

WORDS = {
    Ask.state_rows: AskWords(
        "the records of {transactional_id} in __transaction_state",
        "they show who raised the epoch and how each transaction ended",
        ("__transaction_state-{state_partition}", DEFAULT_COUNT, ", on any of its replicas"),
        "kafka-dump-log.sh --transaction-log-decoder --files "
        '"$(ls "$LOG_DIR"/__transaction_state-{state_partition}/*.log | paste -sd, -)"',
    ),
    Ask.coordinator_log: AskWords(
        "the log of the coordinator of {transactional_id}[ around {when}]",
        'a line "due to timeout" means a timeout, "Initialized transactionalId" alone a new instance',
        ("server.log of the brokers that led __transaction_state-{state_partition}", DEFAULT_COUNT),
        "grep -hF -e {granted} -e {rolled_back} server.log*",
    ),
    Ask.other_instances: AskWords(
        "logs of all processes that use {transactional_id}[, around {when}]",
        "if one started at that time, it took the id over",
        "where those processes run",
        "grep -rlF -e {in_lines} -e {in_settings} .",
    ),
    Ask.client_log: AskWords(
        (
            pick("transactional_id", {None: "the log of this client"}, "the log of the client of {transactional_id}"),
            pick(
                "client_until",
                {None: pick("when", {None: " from its start"}, ", from some minutes before {when} or from its start")},
                " after {client_until}, where the one that is at hand ends",
            ),
        ),
        "the first error leads to the cause; its start shows the transactional.id, the producer id and the settings",
        "where the application runs",
        "grep -iE 'producer|transaction|exception|error| = ' app.log",
    ),
    Ask.client_settings: AskWords(
        "the settings of this client and of the brokers",
        "they show which settings do not fit",
        "the block after 'ProducerConfig values:' in the client's log, and server.properties of the brokers",
        "grep -E '^(transaction|min|offsets|default)' server.properties; grep -A99 'ProducerConfig values:' app.log",
    ),
    Ask.describe: AskWords(
        "the state of {transactional_id} now",
        "it shows whether a transaction is open or decided, and its partitions",
        "any broker, Kafka 3.0 or later",
        'kafka-transactions.sh --bootstrap-server "$BOOTSTRAP" describe --transactional-id {id}',
        asks="describe",
    ),
    Ask.describe_producers: AskWords(
        "the producers of {place}",
        "they show which producer has a transaction open there, and from which offset on (set -x prints the command, "
        "which names the partition)",
        "the leader of {place}",
        '(set -x; kafka-transactions.sh --bootstrap-server "$BOOTSTRAP" describe-producers --topic {quoted_topic} '
        "--partition {partition}) 2>&1",
        asks="describe-producers",
    ),
    Ask.find_hanging: AskWords(
        "the hanging transactions of {topic}",
        "the list shows the transactions that no coordinator will end",
        "any broker, Kafka 3.0 or later",
        'kafka-transactions.sh --bootstrap-server "$BOOTSTRAP" find-hanging --topic {quoted_topic}',
        asks="find-hanging",
    ),
    Ask.partition_dump: AskWords(
        "a dump of {place}",
        "its batches and markers show what was written and how it ended",
        "any replica of {place}",
        'kafka-dump-log.sh --deep-iteration --files "$(ls "$LOG_DIR"/{quoted_place}/*.log | paste -sd, -)"',
    ),
    Ask.leader_log: AskWords(
        "the log of the leader of {place}[ around {when}]",
        "it shows refused writes, elections and truncations",
        "server.log of the broker that led {place}",
        "grep -hF -A1 -e {quoted_place} server.log*",
    ),
    Ask.broker_logs: AskWords(
        "the logs of all brokers[ around {when}]",
        "they show which broker was away, loading or out of disk",
        "server.log of each broker",
        "grep -hE -A1 'TransactionCoordinator|shutting down|started \\(kafka|ISR|log directory|ERROR' server.log*",
    ),
    Ask.consumer_log: AskWords(
        "the log of the consumer behind the offsets[ around {when}]",
        "it shows why the consumer lost its partitions",
        "where the application runs",
        "grep -iE 'consumer|group|max\\.poll|rebalance|exception|error' app.log",
    ),
}
"""What is said of each kind."""

OF_EPOCHS = (Ask.state_rows, Ask.coordinator_log, Ask.other_instances, Ask.client_log)
OF_STATE = (Ask.describe, Ask.state_rows, Ask.coordinator_log, Ask.client_log)
OF_DATA = (Ask.leader_log, Ask.partition_dump, Ask.broker_logs)
OF_READERS = (Ask.describe_producers, Ask.find_hanging, Ask.state_rows, Ask.partition_dump)
OF_BROKERS = (Ask.broker_logs, Ask.client_log)
DECIDES = {
    "fenced_by_new_instance": OF_EPOCHS,
    "transaction_timed_out": OF_EPOCHS,
    "aborted_by_client": (Ask.client_log, Ask.state_rows),
    "transactional_id_expired": (Ask.state_rows, Ask.coordinator_log, Ask.client_log),
    "unstable_transactional_id": (Ask.client_settings, Ask.state_rows),
    "producer_epoch_exhausted": OF_EPOCHS,
    "shared_producer": (Ask.other_instances, Ask.state_rows, Ask.client_log),
    "unresolved_sequence": (Ask.client_log, Ask.broker_logs, Ask.partition_dump),
    "commit_outcome_unknown": OF_STATE,
    "concurrent_transactions_storm": OF_STATE,
    "stuck_prepare": OF_STATE,
    "inconsistent_transaction_state": OF_STATE,
    "producer_id_collision": OF_STATE,
    "atomicity_violation": (Ask.state_rows, Ask.partition_dump, Ask.client_log),
    "silent_failure": (Ask.client_log, Ask.state_rows),
    "hanging_transaction": (Ask.find_hanging, Ask.describe_producers, Ask.partition_dump, Ask.describe, Ask.client_log),
    "open_transaction": (*OF_READERS, Ask.describe, Ask.client_log),
    "read_committed_blocked": (*OF_READERS, Ask.broker_logs),
    "committed_but_unreadable": (Ask.leader_log, Ask.partition_dump, Ask.broker_logs),
    "pending_offset_commit": (Ask.describe_producers, Ask.partition_dump, Ask.state_rows, Ask.client_log),
    "sequence_gap": (*OF_DATA, Ask.client_log),
    "duplicate_sequence": (*OF_DATA, Ask.client_log),
    "producer_state_expired": (*OF_DATA, Ask.client_log),
    "partition_verification_failed": (*OF_DATA, Ask.coordinator_log, Ask.client_log),
    "zombie_coordinator": (Ask.broker_logs, Ask.partition_dump),
    "damaged_index": (Ask.broker_logs, Ask.partition_dump),
    "log_directory_failed": (Ask.broker_logs,),
    "broker_unreachable": OF_BROKERS,
    "coordinator_unavailable": OF_BROKERS,
    "fenced_by_group_generation": (Ask.consumer_log, Ask.client_log),
    "misconfiguration": (Ask.client_settings, Ask.client_log),
    "api_misuse": (Ask.client_log,),
    "abort_after_fatal_error": (Ask.client_log,),
    "producer_restarted_empty": OF_EPOCHS,
    "client_bug": (Ask.client_log,),
    "broker_bug": (Ask.broker_logs,),
}
"""Which evidence decides whether a mechanism was at work, the best first."""


INSTEAD = {
    Ask.describe: (Ask.state_rows,),
    Ask.describe_producers: (Ask.partition_dump,),
    Ask.find_hanging: (Ask.partition_dump, Ask.state_rows),
}
"""What is read where brokers do not answer."""


def answerable(kind: Ask, release: tuple[int, ...]) -> tuple[Ask, ...]:
    """Return the kind itself, or what is read instead where brokers of this release (empty: unknown) do not answer."""
    asks = WORDS[kind].asks
    return (kind,) if asks is None or answers(asks, release) else INSTEAD[kind]


def asked(kind: Ask, facts: AskFacts) -> Asked | None:
    """Say what to bring; None where it can't be named, since the id or the partition is not known."""
    words = WORDS[kind]
    what, why, where = (render(text, facts) for text in (words.what, words.why, words.where))
    command = render(words.command, facts)
    if what is None or why is None or where is None or (words.command is not None and command is None):
        return None
    return Asked(kind, what, why, where, command)
