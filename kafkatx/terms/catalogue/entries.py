"""What the catalogue holds: one frozen type a table, with the columns of the table as fields."""

from kafkatx.terms.catalogue.releases import Release, Span
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

KAFKA = "kafka"
"""The `client` of rows whose releases are Kafka's own: the Java clients, Kafka Streams and Kafka Connect."""

JAVA_CLIENTS = frozenset({KAFKA, "java", "kafka-streams", "kafka-connect"})

LIBRDKAFKA = "RD_KAFKA_RESP_ERR_"
"""What librdkafka's constants of errors begin with in C; it prints them without."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement and the releases that it holds for."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class ProtocolError:
    """An error code of the protocol (`org.apache.kafka.common.protocol.Errors`).

    `reaction` is what a transactional Java producer makes of it: retried, abortable, fatal, ...
    """

    code: int
    name: str
    exceptions: tuple[Stated, ...]
    span: Span
    messages: tuple[Stated, ...]
    reaction: str
    effects: tuple[Stated, ...]
    meaning: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a library other than Java's calls an error (spellings.tsv): its name and, if it has any, its words.

    `code` is the protocol's, below -100 librdkafka's, None for what the library finds out by itself without a number.
    """

    client: str
    code: int | None
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ClientException:
    """How one client shows a failure to its application, and what the application must do then.

    `exceptions` are class names or, in clients without classes, error constants; `codes` are Kafka's codes, below
    -100 those of librdkafka; `messages` are templates with `<placeholders>`; `span` counts the client's releases.
    """

    client: str
    span: Span
    condition: str
    exceptions: tuple[str, ...]
    codes: tuple[int, ...]
    messages: tuple[str, ...]
    raised_by: str
    category: str
    meaning: str
    application_must: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogTemplate:
    """A text of Kafka's source: a log line, or the message of an exception, with `<placeholders>`.

    `logger` is the newest full name of the class that holds it; `level` a log level, the exception class that carries
    the text, or MESSAGE where one text serves both; `side` is `broker` or `client`.
    """

    side: str
    client: str
    logger: str
    level: str
    template: str
    span: Span
    meaning: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventTemplate:
    """A text that lines of logs hold, and what it means as an event (log_texts.tsv).

    `fields` names for each placeholder of `template` the column of an event that it fills (terms.events), `-` for none;
    `topic_partition` fills topic and partition, `file` those of its folder and detail. `constants` are columns that the
    text fills by itself. `stands` tells where the text may stand: `line` is the message of a log line, `exception` the
    message of an exception, `both`.
    `span` are the releases of all classes that write the text. `loggers`, where there are any, are simple names of the
    only classes that mean the event by these words.
    """

    kind: EventKind
    side: Side
    client: str
    template: str
    span: Span
    fields: tuple[str, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()
    stands: str = "line"
    loggers: tuple[str, ...] = ()


_PLACEHOLDER = regex(r"(?:<[\w.]+>)+")
_NAMES_OF_FIELDS = {
    "<transactionalId>": "transactional_id", "<id>": "transactional_id", "<pid>": "producer_id",
    "<epoch>": "producer_epoch", "<producerIdAndEpoch>": "producer", "<pidAndEpoch>": "producer",
    "<topicPartition>": "topic_partition", "<tp>": "topic_partition",
}  # fmt: skip
"""Columns of an event that placeholders of exceptions fill."""


def message_of_exception(text: str, client: str, span: Span) -> EventTemplate:
    """Return what the message of a client's exception means: a failure, of those whom its placeholders name."""
    fields = tuple(_NAMES_OF_FIELDS.get(name, "-") for name in _PLACEHOLDER.findall(text))
    return EventTemplate(EventKind.failure, Side.client, client, text, span, fields, stands="exception")


@dataclass(frozen=True, slots=True)
class EventWords:
    """What a kind of event is in our words, and which of its columns a reader wants to see.

    `columns` are those of terms.events, or what several of them say together: `place` is topic and partition,
    `state_partition` a partition of `__transaction_state`, `cause` error and detail of a failure; `number` goes by what
    it counts (`number_ms`, `attempts`, `sequence`, `sequences`, `records`).
    """

    phrase: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Config:
    """A setting with its defaults by release; `transactions` says what it does to them."""

    scope: str
    name: str
    topic_name: str
    defaults: tuple[Stated, ...]
    meaning: str
    transactions: str
    source: str


@dataclass(frozen=True, slots=True)
class StateEntry:
    """A transaction state with the states that may come before it; `added_predecessors` since 4.0."""

    code: int
    state: str
    java_constant: str
    meaning: str
    predecessors: tuple[str, ...]
    added_predecessors: tuple[str, ...]
    on_disk: bool
    expires: bool
    source: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kip:
    """An improvement proposal that changed transactions: what, since which release, and how one sees it.

    `span` are the releases that have any of it; without a beginning it is not known which.
    """

    kip: str
    title: str
    span: Span
    meaning: str
    changes: tuple[Stated, ...]
    shown: str
    rules: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Term:
    """A word of Kafka's that is neither an error nor a setting: a term, a request, a client's state, a feature level.

    Classes of clients that only wrap an error are here too: they say of no failure which it is. `names` are
    other words for it; `see` are names of entries or rules to ask for next.
    """

    kind: str
    name: str
    names: tuple[str, ...]
    span: Span
    meaning: str
    details: tuple[Stated, ...]
    see: tuple[str, ...]
    rules: tuple[str, ...]
    source: str


Signs = tuple[tuple[str, ...], ...]
"""What is to be shown: one of these, each of them all of its texts."""


@dataclass(frozen=True, slots=True)
class StatementPattern:
    """Words by which people say something: a regular expression, and one that takes it back in the same line."""

    name: str
    pattern: str
    unless: str


@dataclass(frozen=True, slots=True)
class StatementWeight:
    """How much a statement weighs for a cause (statement_weights.tsv): 1 or 2, below zero where it speaks against it.

    `statement` is a name of StatementPattern, `because` says why; causes stand in no order.
    """

    rule: str
    statement: str
    weight: int
    because: str
    source: str


OF_FRAMES = "frames_"
"""How names of symptoms begin that frames of a stack trace show."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """What people say that does not work (symptoms.tsv): a name, the words as in StatementPattern, and what it means.

    `rules` are the mechanisms that show themselves so, the commonest first; `holds` are literals (small letters) of
    which one stands in every text that says so: quick to look for.
    """

    name: str
    pattern: str
    unless: str
    meaning: str
    rules: tuple[str, ...]
    holds: tuple[str, ...]

    @property
    def is_of_frames(self) -> bool:
        """Whether frames of a stack trace say it, whose exception is not at hand."""
        return self.name.startswith(OF_FRAMES)


@dataclass(frozen=True, slots=True)
class SpokenTrait:
    """What words tell of a failure that no symptom fits (spoken_traits.tsv): a name, the words, and how it is said.

    `kind` is one of `who`, `does`, `when` and `ends`: who fails, in doing what, on which occasion, how it ends.
    `symptoms` are those of symptoms.tsv that tell it by themselves.
    """

    kind: str
    name: str
    phrase: str
    pattern: str
    symptoms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpokenCause:
    """A mechanism that explains traits told together (spoken_causes.tsv), and why it does.

    Of each of `needs` one trait must be told, of none of `unless` all. Traits are those of SpokenTrait, and statements.
    """

    rule: str
    needs: tuple[tuple[str, ...], ...]
    unless: tuple[tuple[str, ...], ...]
    because: str
    source: str


@dataclass(frozen=True, slots=True)
class KnownDefect:
    """A defect of a client library or of a broker, as its makers know it: where it is, how it shows, what to do.

    `id` is that of its issue (`KAFKA-14830`, `librdkafka#4736`), or a name of ours where there is none
    (`librdkafka/purge-race`), `names` other issues of it; `side` whose defect it is. Releases of `product` have it from
    `since` on (None: not known) up to those of `fixed`, one for each line of releases with the repair (none: not
    repaired). A line must show one of `shows`, other lines of its text one of `beside`, none of `unless`. `sure` says
    how sure that is: `yes` where nothing else makes these texts, `release` if one that has it must be told, `guess` if
    it is never more than one of the causes that fit.
    """

    id: str
    names: tuple[str, ...]
    side: str
    product: str
    since: str | None
    fixed: tuple[str, ...]
    sure: str
    shows: Signs
    beside: Signs
    unless: Signs
    meaning: str
    remedy: str
    source: str

    @property
    def rule(self) -> str:
        """The rule that tells it."""
        return f"{self.side}_bug"

    @property
    def is_issue(self) -> bool:
        """Whether its id is that of an issue."""
        return "/" not in self.id

    @property
    def is_sure(self) -> bool:
        """Whether nothing else makes its texts."""
        return self.sure == "yes"

    @property
    def texts(self) -> frozenset[str]:
        """Every text that a line may have to show."""
        return frozenset(text for signs in (self.shows, self.beside, self.unless) for one in signs for text in one)

    @property
    def affected(self) -> str | None:
        """The releases that have it, as a reader is told; None where that is not known."""
        until = f"before {' and '.join(self.fixed)}" if self.fixed else ""
        since = f"from {self.since} on" if self.since else ""
        return ", ".join(filter(None, (since, until))) or None

    def is_in(self, release: tuple[int, ...]) -> bool:
        """Whether a release has the defect; a shorter number stands for all that begin so, from `2.5.0` on."""
        if self.since is not None and not Span(since=self.since).holds(Release(release)):
            return False
        fixed = [tuple(map(int, one.split("."))) for one in self.fixed]
        last = {one[0]: one for one in sorted(fixed)}.values()
        whole = (*release, 0, 0)
        return not any(one <= whole and (one[:2] == release[:2] or one in last) for one in fixed)


Named = ProtocolError | ClientException | Config | StateEntry | Kip | Term | KnownDefect
"""Entries that have a name of their own; log templates are found by their text."""

Entry = Named | LogTemplate


def simple_name(name: str) -> str:
    """Return a class name without its package: `ProducerFencedException`; error constants stay whole."""
    return name.rpartition(".")[2].rstrip("$")


def plain_name(name: str) -> str:
    """Return the name of an error as it is printed: a class without its package, librdkafka's without their prefix."""
    return simple_name(name).removeprefix(LIBRDKAFKA)


def is_kafka_release(entry: ClientException | LogTemplate | EventTemplate) -> bool:
    """Tell whether the entry's span counts releases of Kafka, not of another client."""
    return entry.client in JAVA_CLIENTS
