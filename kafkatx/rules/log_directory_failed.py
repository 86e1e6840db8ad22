"""A broker could not write to one of its log directories and took it offline with all replicas in it.

Mechanism    An append, a flush or a checkpoint ends in an IOException (disk full, an I/O error): the broker takes the
             whole directory offline, stops its replicas, and their leaders move or the partitions go offline; a broker
             whose last directory failed, or that of the metadata log, stops itself. Producers get KAFKA_STORAGE_ERROR
             and try again, give up or abort; ids whose partition of __transaction_state lay there have no coordinator
             until it moves.
Evidence     the broker's line that names directory and exception ("Error while appending records to ... in dir ...");
             its lines about what it stops serving for that reason; without a directory what the system says of a full
             or broken disk makes it likely. By a client's log alone KAFKA_STORAGE_ERROR: brokers answer it for nothing
             else (an append that failed so, a replica in an offline directory).
Against      a broker that goes on appending to the same directory afterwards.
Look-alikes  broker_unreachable (the whole broker was away); coordinator_unavailable (an effect); descriptors or ports
             that ran out, which fail without a directory.
Remedy       free or replace the disk and restart the broker: a directory stays offline until then. Replicas take over
             only where the replication factor is above 1; alert on OfflineLogDirectoryCount.
Source       LogDirFailureChannel, ReplicaManager.handleLogDirFailure (1.0 to 4.4); KIP-112, KIP-858.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import only, partitions_named, times_of
from kafkatx.findings.conditions import same_time
from kafkatx.findings.expiries import answers_before
from kafkatx.findings.one_failure import known_as, left
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import broker_in
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, NameList, Quoted, Refs, facts

CLIENTS = (EventKind.produce_retry, EventKind.produce_failed, EventKind.failure, EventKind.to_abortable)
"""Lines of clients that can name the error."""

HALT = "halt"
"""What the reader of logs calls it where a broker stops for it."""
OF_DISKS = ("No space left on device", "Disk quota exceeded", "Input/output error", "Read-only file system",
            "Stale file handle")  # fmt: skip
"""What an operating system says of a disk, and of nothing else (descriptors and ports run out in other words)."""
FULL = OF_DISKS[:2]
"""Of these what says that there is no room left."""
OF_BROKERS = ("kafka.log.", "kafka.server.", "kafka.utils.", "kafka.cluster.", "kafka.raft.", "kafka.metadata.",
              "org.apache.kafka.storage.", "org.apache.kafka.server.", "org.apache.kafka.metadata.",
              "org.apache.kafka.raft.", "org.apache.kafka.image.", "org.apache.kafka.controller.")  # fmt: skip
"""What loggers begin with that only brokers and controllers have."""


@facts
class Facts:
    """A failure as one log tells it; `log` is its name, `node` the broker that wrote it, as its lines say.

    `directory` is None where no line names it; `failures` name a partition, `elsewhere` are the others, `coordinators`
    the lines that name partitions of __transaction_state. `halts` are lines in which the broker says that it stops for
    it; `is_back`: its log tells of a later start. `client` and `brokers` are who was refused by whom, as far as lines
    name them; `abort_failed`: its abort was, too.
    """

    log: str
    node: int | None
    directory: str | None
    reason: Quoted | None
    partitions: NameList | None
    coordinators: Refs
    refused: Count
    failures: Refs
    elsewhere: Refs
    effects: Refs
    halts: Refs
    is_back: bool
    refusals: Refs
    given_up: Refs
    client: str | None
    brokers: NameList | None
    abort_failed: bool

    @property
    def broker(self) -> str | None:
        """The broker, where lines name one alone."""
        return self.brokers[0] if self.brokers is not None and len(self.brokers) == 1 else None

    @property
    def by_broker(self) -> bool:
        """Whether the broker tells it itself."""
        return bool(self.failures or self.elsewhere or self.effects or self.halts)

    @property
    def is_full(self) -> bool:
        """Whether the disk has no room left, rather than being broken."""
        return self.by_broker and self.reason in FULL

    @property
    def is_down(self) -> bool:
        """Whether the broker stopped for it, and nothing tells of its start."""
        return bool(self.halts) and not self.is_back

    @property
    def was_used(self) -> bool:
        """Whether the broker was running with it: a halt alone may be that of a start."""
        return bool(self.failures or self.elsewhere or self.effects) and not self.is_unplaced

    @property
    def is_unplaced(self) -> bool:
        """Whether no line says what could not be written."""
        return self.by_broker and self.directory is None and self.partitions is None


def find(model: CaptureModel) -> Found:
    """One case for each broker's log that tells of a failed directory, else one for the clients that were refused."""
    logs = model.logs
    failed = logs.of_kind(EventKind.storage_failed).tolist()  # descriptors and ports that ran out are among them
    rows = [row for row in failed if _is_placed(logs, row) or _is_of_disk(logs, row)]
    refusals = [row for row in logs.of_kind(*CLIENTS).tolist() if _is_refused(logs, row)]
    sources = logs.events["source"]
    for source in dict.fromkeys(sources[rows].tolist()):
        yield _case(model, [row for row in rows if sources[row] == source], refusals)
    if refusals and not rows:
        yield _case(model, [], refusals)


def _is_refused(logs: LogModel, row: int) -> bool:
    return error_code(logs.string(row, "error") or "") is ErrorCode.KAFKA_STORAGE_ERROR


def _path(logs: LogModel, row: int) -> str | None:
    """The directory (or a file in it) that a line names; of a full disk some name the reason instead."""
    text = logs.string(row, "detail") or ""
    return text if text not in OF_DISKS and ("/" in text or ":\\" in text) else None


def _is_placed(logs: LogModel, row: int) -> bool:
    """Whether a line names a partition or a path."""
    return logs.string(row, "topic") is not None or _path(logs, row) is not None


def _is_halt(logs: LogModel, row: int) -> bool:
    """Whether the broker says that it stops for it: it does where no directory is left that it can go on with."""
    return logs.string(row, "api") == HALT


def _is_of_disk(logs: LogModel, row: int) -> bool:
    """Whether a logger of a broker names a reason that only a disk has: an application has a disk of its own."""
    if not (logs.string(row, "logger") or "").startswith(OF_BROKERS):
        return False
    return any(reason in logs.words(row) for reason in OF_DISKS)


def _case(model: CaptureModel, rows: list[int], refusals: list[int]) -> Case:
    logs = model.logs
    first = [row for row in rows if logs.trace(row) is not None]
    since, until = times_of(logs, rows or refusals)
    after = (since or 0) - CLIENT_TOLERANCE_MS  # what was refused before has another cause
    refusals = [row for row in refusals if logs.times[row] < 0 or logs.times[row] >= after]
    given_up = _given_up(model, refusals)
    is_said = any(_is_placed(logs, row) for row in first) or any(_is_halt(logs, row) for row in rows)
    verdict = Verdict.proved if is_said else Verdict.likely
    return Case(
        facts=_facts(model, rows, first, refusals, given_up),
        verdict=verdict,
        severity=Severity.error if rows or given_up else Severity.warning,
        since=since,
        until=until,
        count=len(refusals) if not rows else 1,
    )


def _starts_behind(logs: LogModel, halt: int) -> Iterator[bool]:
    """Whether each start of a broker that the same log tells of comes behind the line of its halt."""
    source, line = logs.events["source"][halt], logs.events["line"][halt]
    for row in logs.of_kind(EventKind.broker_started).tolist():
        yield bool(logs.events["source"][row] == source and logs.events["line"][row] > line)


def _given_up(model: CaptureModel, refusals: list[int]) -> list[int]:
    """Lines of calls that failed for good by it: the error itself, or a batch that met it until its time was over."""
    logs, met = model.logs, set(refusals)
    return [
        row
        for told in left(model)
        if not told.is_brokers
        if known_as(told, ErrorCode.KAFKA_STORAGE_ERROR.name)
        or ((answers := answers_before(logs, told)) and met.issuperset(answers))
        for row in told.rows
    ]


def _facts(model: CaptureModel, rows: list[int], first: list[int], refusals: list[int], given_up: list[int]) -> Facts:
    logs = model.logs
    told, halts = [*rows, *refusals], [row for row in rows if _is_halt(logs, row)]
    said = [trace.root.message for row in first if (trace := logs.trace(row)) is not None]
    directories = [path for row in rows if (path := _path(logs, row)) is not None]
    source = int(logs.events["source"][(rows or refusals)[0]])
    of_partitions = [row for row in first if logs.string(row, "topic") is not None]
    return Facts(
        log=logs.short_paths[source],
        node=logs.facts.sources[source].broker_id if rows else None,
        directory=min(directories, key=len, default=None),  # some lines name a file in it
        reason=Quoted(said[0]) if said and said[0] else None,
        partitions=partitions_named(logs, told) or None,
        coordinators=event_refs(model, [row for row in told if logs.string(row, "topic") == TRANSACTION_STATE], 3),
        refused=Count(len(refusals)),
        failures=event_refs(model, of_partitions),
        elsewhere=event_refs(model, [row for row in first if row not in of_partitions]),
        effects=event_refs(model, [row for row in rows if row not in {*first, *halts}]),
        halts=event_refs(model, halts),
        is_back=bool(halts) and any(_starts_behind(logs, halts[-1])),
        refusals=event_refs(model, refusals, 3),
        given_up=event_refs(model, given_up, 3),
        client=only(name for row in refusals if (name := _client(logs, row)) is not None),
        brokers=NameList(dict.fromkeys(named for row in refusals if (named := broker_in(logs.words(row))))) or None,
        abort_failed=any(logs.string(row, "api") == "abortTransaction" for row in given_up),
    )


def _client(logs: LogModel, row: int) -> str | None:
    """Who was refused: its transactional.id, else its client.id."""
    client = logs.client(int(logs.owners[row]))
    return (client.transactional_id or client.client_id) if client is not None else None


AND_OFFLINE = ", and all its replicas are offline until it is started again."
WORDS = Words(
    Facts,
    who=pick(
        "by_broker",
        {True: pick("node", {None: "broker of {log}"}, "broker {node}")},
        pick("client", {None: "client of {log}"}, "{client}"),
    ),
    title=pick(
        "by_broker",
        {True: ("log directory[ {directory}] failed", pick("halts", {(): ""}, ", the broker stopped"))},
        "writes refused with KAFKA_STORAGE_ERROR[ by {broker}]",
    ),
    summary=pick(
        "by_broker",
        {
            True: (
                "Log directory[ {directory}] of ",
                pick("node", {None: "the broker that wrote {log}"}, "broker {node}"),
                "[ {perhaps}] failed[: {reason}]. ",
                pick(
                    "halts",
                    {(): "Its replicas there[ ({partitions:3})] stay offline until the broker restarts."},
                    (
                        "The broker stopped for it",
                        pick("is_back", {True: "; later it was started again."}, AND_OFFLINE),
                    ),
                ),
            )
        },
        (
            pick("brokers", {None: "Brokers"}, "Broker {brokers:3}"),
            " refused writes of ",
            pick("client", {None: "the client that wrote {log}"}, "{client}"),
            " with KAFKA_STORAGE_ERROR",
            pick("given_up", {(): ""}, ", and it gave up"),
            pick("abort_failed", {True: "; its abort failed, too"}, ""),
            ". A log directory[ {perhaps}] failed there.",
        ),
    ),
    steps=(
        step("The broker could not write[ to {partitions:3}][: {reason}]", cites="failures", needs="failures"),
        step("The broker could not write[ in {directory}][: {reason}]", cites="elsewhere", needs="elsewhere"),
        step("It took the directory offline and stopped its replicas", cites="effects", needs="effects"),
        step("Then the broker stopped itself", "its own line", cites="halts", needs="halts"),
        step(
            "Partitions of __transaction_state lay there: ids whose partition this broker led lost their coordinator",
            "lines that name these partitions",
            cites="coordinators",
            needs="coordinators",
        ),
        step("Clients were refused with KAFKA_STORAGE_ERROR, {refused:time}", cites="refusals", needs="refusals"),
        step("The call failed for good", cites="given_up", needs="given_up"),
    ),
    considered=(
        ruled_out(
            "a directory that was removed on purpose",
            "the broker was running and used it",
            needs="was_used",
        ),
        left_open(
            "another disk of that machine",
            "the line does not say which file could not be written",
            decided_by="the lines around it in the server.log, and df on that machine",
            needs="is_unplaced",
        ),
        left_open(
            "a failure of another kind",
            "only the broker's log names directory and exception",
            decided_by="the server.log of the brokers[ that lead {partitions:3}]",
            unless="by_broker",
        ),
    ),
    remedies=(
        remedy(
            "The broker has stopped: free or replace the disk[ of {directory}], then start it again",
            "operator",
            cost="partitions with one replica are offline until then",
            needs="is_down",
        ),
        remedy(
            "Free or replace the disk[ of {directory}] and restart the broker: until then it stays offline",
            "operator",
            cost="partitions with one replica are offline until then",
            restart_needed=True,
            needs="by_broker",
            unless="is_down",
        ),
        remedy(
            (
                "Look for a failed log directory in the server.log of ",
                pick("brokers", {None: "the brokers[ that lead {partitions:3}]"}, "{brokers:3}"),
                ". Free or replace its disk, then restart that broker",
            ),
            "operator",
            restart_needed=True,
            unless="by_broker",
        ),
        remedy(
            "Enlarge the volume, or empty it of what is not Kafka's: a broker that is down deletes nothing. So that it "
            "does not fill again shorten retention.ms or retention.bytes, or delete topics. Never delete files of "
            "segments by hand",
            "operator",
            needs="is_full",
        ),
        remedy("Keep replicas of every partition on another broker, and alert on OfflineLogDirectoryCount", "operator"),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=0,
    causes=tuple(
        (rule, same_time)
        for rule in ("aborted_by_client", "transaction_timed_out", "coordinator_unavailable", "broker_unreachable",
                     "stuck_prepare")
    ),
    decided_by=(Side.client, Side.broker),
)  # fmt: skip
