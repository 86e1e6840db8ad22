"""A call failed, a client can do nothing more, or a part of a broker stopped, and this evidence leaves open why.

Mechanism    None: the honest rest. What no rule about a cause explains is told all the same, with what the error means
             in this release, whether the producer can go on, the causes that fit, the likeliest first, and what would
             decide between them.
Evidence     a line that tells of a failure: an exception, an error of a client library, a refusal that a broker logs.
             It proves that this happened, and nothing about why. Where nothing of the kind is there, an error or a
             symptom that people name in words is told for information.
Against      a finding about its cause at likely or proved; a client that tries again by itself; a consumer that has
             nothing to do with transactions.
Look-alikes  every rule: its candidates are named, with what speaks for and against each in this evidence.
Remedy       what the client asks of its application after this error; then the evidence that decides the cause.
Source       Errors, TransactionManager, ProducerConfig (0.11 to 4.3); rd_kafka_resp_err_t of librdkafka.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkatx.findings.accounts import OF_TRANSACTIONS, Account, Accounted, wraps_the_unsaid
from kafkatx.findings.client_lines import producer_at, subjects, times_of
from kafkatx.findings.conditions import same_id_and_time
from kafkatx.findings.expiries import is_expiry
from kafkatx.findings.failure_kinds import UNEXPECTED
from kafkatx.findings.finding import Finding, Subject
from kafkatx.findings.plain_clients import is_plain
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.failures import call_of
from kafkatx.histories.logs.frameworks_named import owner_in_lines
from kafkatx.rules.candidates.weighing import weighed
from kafkatx.rules.candidates.words import CANDIDATES, in_title
from kafkatx.rules.unexplained.brokers import BROKERS_REMEDIES
from kafkatx.rules.unexplained.clients import (
    ABORTABLE,
    CLIENTS_REMEDIES,
    FATAL,
    GOES_ON,
    PLAIN,
    REPEATED_REMEDIES,
    RETRIABLE,
)
from kafkatx.rules.unexplained.named import NAMED_WORDS, named_cases
from kafkatx.rules.unexplained.spoken import SPOKEN_WORDS, spoken_case
from kafkatx.terms.catalogue.frameworks import CONNECT, FLINK, STREAMS
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import damaged_file, names_a_newer_one, names_too_few_in_sync
from kafkatx.words.explanation import ActorWords, Bound, ConsideredWords, Words, included, remedy, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import client_seen, event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, NameList, Quoted, Refs, as_name, facts

COORDINATORS = (TRANSACTION_STATE, CONSUMER_OFFSETS)
"""Topics that only coordinators write."""


@facts
class Facts:
    """A failure without a cause, told `count` times; of a broker where `is_brokers`.

    `error` is what names it, `protocol_name` and `code` the protocol's error behind it where it is called otherwise;
    `framework` what owns the producer, where the application can't call it; `is_cut` whether the lines below an
    exception that only wraps another are not at hand, `is_retry` whether a request was made again to the text's end;
    `is_write` whether a leader refused what a producer wrote, `is_lost` whether a producer gave records up, as their
    time was over, `file` what a broker could not read records of;
    `begins` how often the application called beginTransaction since, of a producer that can do nothing more;
    `means` what the catalogue says of it, `category` what it means to the client (PLAIN: nothing shows a transaction);
    `candidates` the names of the causes that fit, the likeliest first, `open` what is said of each.
    """

    name: ClientName
    client: Bound[ActorWords] | None
    is_brokers: bool
    error: str
    protocol_name: str | None
    code: int | None
    call: str | None
    category: str
    means: str | None
    message: Quoted | None
    count: Count
    candidates: NameList
    open: tuple[Bound[ConsideredWords], ...]
    lines: Refs
    begins: Count | None = None
    framework: str | None = None
    is_cut: bool = False
    is_retry: bool = False
    is_write: bool = False
    is_lost: bool = False
    file: Quoted | None = None

    @property
    def names_newer(self) -> bool:
        """Whether its words name a newer instance, as clients have it of a timeout as well."""
        return names_a_newer_one(self.message or "") and "transaction_timed_out" in self.candidates

    @property
    def named_error(self) -> str:
        """The error as sentences print it."""
        return as_name(self.error)

    @property
    def may_be(self) -> str | None:
        """The causes that fit best, as titles name them."""
        return in_title(self.candidates)

    @property
    def is_sent_again(self) -> bool:
        """Whether what is asked again is a batch, which the leader of its partition answers."""
        return self.is_retry and self.call == "send"

    @property
    def is_unexpected(self) -> bool:
        """Whether a broker met what has no code: only its own log says what that was."""
        return (self.protocol_name or self.error) == UNEXPECTED and not self.is_brokers

    @property
    def is_fatal(self) -> bool:
        """Whether the producer can do nothing more."""
        return self.category == FATAL

    @property
    def may_be_replaced(self) -> bool:
        """Whether a new instance may have its id already, which one more would fence."""
        return "fenced_by_new_instance" in self.candidates

    @property
    def may_be_late(self) -> bool:
        """Whether Streams owns the producer, whose transactions time out sooner than others."""
        return "Streams" in (self.framework or "") and "transaction_timed_out" in self.candidates

    @property
    def is_abortable(self) -> bool:
        """Whether the transaction has to be aborted, and the producer can go on."""
        return self.category == ABORTABLE

    @property
    def is_retriable(self) -> bool:
        """Whether the same call can be made again: brokers repeat theirs by themselves, a batch is gone."""
        return self.category == RETRIABLE and not self.is_brokers and not self.is_lost

    @property
    def is_repeated(self) -> bool:
        """Whether a broker's own request failed, which it sends again."""
        return self.category == RETRIABLE and self.is_brokers and not self.is_write and self.file is None

    @property
    def is_refused_write(self) -> bool:
        """Whether a producer's write was refused, which the producer makes again."""
        return self.category == RETRIABLE and self.is_write

    @property
    def who_repeats(self) -> str | None:
        """Who tries again without being told to."""
        if self.is_refused_write:
            return "coordinator" if any(topic in (self.message or "") for topic in COORDINATORS) else "producer"
        return "broker" if self.is_repeated else None


@dataclass(frozen=True, slots=True)
class _Group:
    """Failures of one client (or broker) that are alike."""

    first: ToldFailure
    all: tuple[ToldFailure, ...]

    def rows(self) -> list[int]:
        """Lines of all of them."""
        return [row for told in self.all for row in told.rows]


def nothing(model: CaptureModel) -> Found:
    """Nothing is found before the other rules have spoken."""
    yield from ()


def find_rest(model: CaptureModel, failures: Sequence[Accounted], findings: Sequence[Finding]) -> Found:
    """One case for each client and error that no finding explains; where nothing failed, what texts only name."""
    left = [one.told for one in failures if one.account is Account.unexplained]
    for group in _groups(left):
        yield spoken_case(model, group.first) if group.first.is_spoken else _case(model, group)
    if all(one.account is Account.excused for one in failures):
        yield from named_cases(model, findings)


def _groups(left: Sequence[ToldFailure]) -> Iterator[_Group]:
    """Put alike failures together: one client name, error, call and meaning."""
    groups: dict[tuple[object, ...], list[ToldFailure]] = {}
    for told in left:
        who = client_name(told.client) if told.client is not None else ClientName(told.transactional_id, None)
        named = told.known.name if told.known is not None else told.error
        groups.setdefault((who, named, told.call, told.category, told.is_brokers), []).append(told)
    for group in groups.values():
        yield _Group(group[0], tuple(group))


def _case(model: CaptureModel, group: _Group) -> Case:
    told = group.first
    since, until = times_of(model.logs, group.rows())
    producer_id, epoch = producer_at(told.client, told.rows[0])
    producer_id = told.producer_id if producer_id is None else producer_id
    name = told.transactional_id
    return Case(
        facts=_facts(model, group),
        verdict=Verdict.proved,
        severity=_severity(model, told),
        transactional_id=name,
        producer_id=producer_id,
        producer_epoch=epoch,
        since=since,
        until=until,
        count=sum(one.count for one in group.all),
        subjects=subjects([Subject(one.transactional_id, one.producer_id) for one in group.all]),
    )


def _severity(model: CaptureModel, told: ToldFailure) -> Severity:
    """A producer that can do nothing more, or a part of a broker that stopped, is an error.

    What met no transaction is told for information.
    """
    if is_plain(model, told):
        return Severity.info
    if told.category == FATAL or told.is_grave:
        return Severity.error
    return Severity.info if told.is_harmless else Severity.warning


def _facts(model: CaptureModel, group: _Group) -> Facts:
    told = group.first
    known, meaning = told.known, told.meaning
    found = weighed(model, told)
    client = told.client
    return Facts(
        name=client_name(client) if client is not None else ClientName(told.transactional_id, None),
        client=client_seen(model, client) if client is not None else None,
        is_brokers=told.is_brokers,
        error=told.error,
        protocol_name=known.name if known is not None and known.name != told.error else None,
        code=known.code if known is not None else None,
        call=told.call,
        category=PLAIN if is_plain(model, told) else _category(model, told),
        means=meaning.meaning if meaning is not None else known.meaning if known is not None else None,
        message=Quoted(told.message) if told.message else None,
        count=Count(sum(one.count for one in group.all)),
        candidates=NameList(rule for rule, _ in found),
        open=tuple(CANDIDATES[rule].of(fits) for rule, fits in found),
        lines=event_refs(model, group.rows(), 4),
        begins=_begins_since(model, group),
        framework=_owner(model, told),
        is_retry=told.is_retry,
        is_cut=any(wraps_the_unsaid(model.logs, row) for row in told.rows),
        is_lost=_category(model, told) == RETRIABLE and any(is_expiry(model.logs, row) for row in told.rows),
        is_write=told.is_brokers and names_too_few_in_sync(told.message),
        file=Quoted(path) if (path := damaged_file(told.message)) is not None else None,
    )


def _category(model: CaptureModel, told: ToldFailure) -> str:
    """What a failure means to its client: of a batch that expired, and no word of a transaction, only that it is lost.

    Idempotent producers have no transaction that must be aborted, and Connect's outside exactly-once none at all.
    """
    is_batch = told.category == ABORTABLE and told.call in (None, "send", "flush") and told.transactional_id is None
    if not is_batch or not all(is_expiry(model.logs, row) for row in told.rows):
        return told.category
    speaks = any("ransact" in model.logs.words(row) for row in told.rows) or len(model.logs.of_kind(*OF_TRANSACTIONS))
    return told.category if speaks else RETRIABLE


def _owner(model: CaptureModel, told: ToldFailure) -> str | None:
    """The framework whose producer failed, where it makes and calls producers by itself."""
    found = framework_of(model, told.transactional_id, told.client)
    if found is None:
        return owner_in_lines(model.logs, told.rows)
    return str(found.name) if found.name in STREAMS | CONNECT | FLINK else None


def _begins_since(model: CaptureModel, group: _Group) -> Count | None:
    """How often beginTransaction failed since a producer can do nothing more."""
    if group.first.category != FATAL:
        return None
    begun = [row for row in group.rows()[1:] if call_of(model.logs, row) == "beginTransaction"]
    return Count(len(begun)) if begun else None


WHAT = pick(
    "is_brokers",
    {True: "A broker logged {named_error}", False: ("{name:The} got {named_error}", "[ in {call}]")},
)

WORDS = Words(
    Facts,
    title=("{named_error}[ in {call}], ", pick("is_retry", {True: "asked again"}, "cause open[, may be {may_be}]")),
    summary=(
        WHAT,
        "[ ({protocol_name}, {code})]",
        pick(
            "file",
            {None: pick("means", {None: "."}, ": {means}.")},
            ": a batch in {file} can't be read. The file itself is damaged, not what was sent.",
        ),
        pick("names_newer", {True: " Its words name a newer instance, but the client says so of a timeout, too."}, ""),
        GOES_ON,
        pick("is_retry", {True: " The client asks again; that it got through does not stand here."}, ""),
        " This evidence does not show its cause.",
    ),
    actors=(included("client"),),
    steps=(
        step(
            pick(
                "is_retry",
                {True: "The request was refused {count:time}"},
                pick("count", {1: "The error was logged"}, "The error was logged {count:time}"),
            ),
            cites="lines",
        ),
        step("The application went on calling beginTransaction, {begins:time}: no call on this producer succeeds"),
    ),
    considered=(included("open"),),
    remedies=(
        *BROKERS_REMEDIES,
        *CLIENTS_REMEDIES,
        remedy(
            "Look at the logs of the brokers at that time: the error behind this one stands in one of them, with its "
            "stack trace",
            "operator",
            needs="is_unexpected",
        ),
        remedy(
            "If it was the timeout: Streams sets transaction.timeout.ms to 10 s. Raise "
            "producer.transaction.timeout.ms above the longest pause of a task, quotas and rebalances included",
            "client",
            needs="may_be_late",
        ),
        *REPEATED_REMEDIES,
        remedy(
            "Nothing to call again: the broker repeats its own requests. If the line goes on to come, look whether the "
            "partition that it names has a leader and enough replicas",
            "operator",
            needs="is_repeated",
        ),
        remedy(
            pick(
                "is_cut",
                {True: 'Look at the lines below this one: the last that begins with "Caused by:" names the error'},
                "Look at the log before this line: the first error in it is the cause, this one may be its echo",
            ),
            "application",
            unless="is_fatal is_abortable is_retriable is_lost is_repeated is_retry is_refused_write file",
        ),
        remedy(
            "Look whether the client got through later (it begins a transaction, or is given a producer id). If not, "
            "look "
            "at the coordinator of its transactional.id: the logs of the brokers at that time, and the state of the id",
            "operator",
            needs="is_retry",
            unless="is_sent_again",
        ),
        remedy(
            "Look whether the batch got through later (the log goes on without the line, and without a batch that "
            "failed). If not, look at the log of the partition's leader at that time",
            "operator",
            needs="is_sent_again",
        ),
    ),
)

RULE = Rule(
    find=nothing,
    find_rest=find_rest,
    words=(WORDS, SPOKEN_WORDS, NAMED_WORDS),
    depth=4,
    causes=(("abort_after_fatal_error", same_id_and_time), ("silent_failure", same_id_and_time)),
)
