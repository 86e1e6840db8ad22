"""Data were aborted, or never committed, and the client's log shows no warning of it.

Mechanism    An exception is swallowed or logged below WARN, the future of send() is not looked at and the commit is
             left out, the producer is closed with a transaction open, or a commit is forgotten until the coordinator
             ends the transaction. The application goes on as if nothing had happened; readers never see the records.
Evidence     aborted records on disk, and a client's log that covers their time without a WARN or ERROR line. An
             exception in it at INFO or below proves that the failure was met and not told; without the disk a commit or
             abort that threw, shown at INFO or below.
Against      a WARN or ERROR line of the time; an abort by choice (abortTransaction without an exception before it).
Look-alikes  an intended rollback; a framework that handles the error and processes again; a process that died, whose
             log just ends; an operator's abort; a transaction that the next instance took over.
Remedy       log such exceptions at ERROR and stop or retry; look at the future of every send() before the commit; alarm
             on aborted transactions.
Source       KIP-98; KafkaProducer.send, commitTransaction, close (0.11 to 4.3); Sender.run (abort on close, 2.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafkatx.findings.client_lines import only, subjects, times_of
from kafkatx.findings.conditions import refused_its_records, same_id_and_time
from kafkatx.findings.ends import SEND_AGAIN
from kafkatx.findings.finding import Subject
from kafkatx.findings.grouping import CaseColumns
from kafkatx.findings.lost_data import Lost, covering_client, losses, seen_until
from kafkatx.findings.outcome_remedies import DESCRIBE, LOOK_UP
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.windows import Windows
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.rules.silences.quiet_clients import ENDING_CALLS, Silence, by_logs_alone, over_data
from kafkatx.terms.events import Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import data_ref, marker_ref
from kafkatx.words.explanation import (
    ActorWords,
    Bound,
    Phrase,
    Words,
    gap,
    included,
    left_open,
    remedy,
    ruled_out,
    step,
)
from kafkatx.words.facts import client_name, data, instant
from kafkatx.words.log_refs import client_seen, event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import MOST_RANGES, ClientName, Count, Data, Instant, JoinedValues, NameList, Refs, facts


@facts
class Facts:
    """Failures of an id of which its client's log says nothing aloud; the first one is explained.

    `lost` is None where only the log tells: `calls` that end a transaction threw. `quiet` are lines at INFO or below of
    what failed, none where the log has no word of it; `closes` those of a close() that aborted.
    """

    id: str
    name: ClientName
    client: Bound[ActorWords]
    log: str
    log_since: Instant | None
    log_until: Instant | None
    lost: LossFacts | None
    calls: JoinedValues[str]
    quiet: Refs
    last_quiet: Refs
    closes: Refs

    @property
    def is_shown(self) -> bool:
        """Whether the failure stands in the log at all."""
        return bool(self.quiet)

    @property
    def only_aborts(self) -> bool:
        """Whether nothing but aborts failed: then there is no commit whose outcome is open."""
        return tuple(self.calls) == ENDING_CALLS[:1]


@dataclass(frozen=True, slots=True)
class LossFacts:
    """Aborted transactions; `data` are the first ranges of all that was lost, `more` counts the further ones.

    `others` are aborted transactions of the id that its log does not cover, or tells of aloud.
    """

    count: Count
    records: Count
    data: Data
    more: Count | None
    others: Count | None
    first_data: Data
    ended_by: EndedBy
    written: Refs


@facts
class Untold:
    """Aborted transactions of which no client's log is at hand."""

    count: Count
    names: NameList


def find(model: CaptureModel) -> Found:
    """One case for each id and kind of silence; one gap for what no client's log covers."""
    logs = model.logs
    if not logs.clients and not logs.has_side(Side.client):
        return  # no client's log to be silent, nor one that covers some of the ids
    windows = Windows(logs)
    lost = [(one, covering_client(model, one)) for one in losses(model)]
    yield from _cases(
        model, [*over_data(windows, lost), *by_logs_alone(model, windows)], Counter(one.id for one, _ in lost)
    )
    alone = [one.id for one, client in lost if client is None and not any(logs.clients_of(one.id))]
    if alone and logs.has_side(Side.client):
        yield NO_LOG.of(Untold(Count(len(alone)), NameList(dict.fromkeys(alone))))


def _cases(model: CaptureModel, silences: list[Silence], aborted: Counter[str]) -> Iterator[Case]:
    """`aborted` counts the aborted transactions of each id."""
    aborted.subtract(one.id for one in silences if one.lost is not None)
    groups: dict[tuple[str, bool], list[Silence]] = {}
    for one in silences:
        groups.setdefault((one.id, bool(one.quiet)), []).append(one)
    for (_, is_shown), group in groups.items():
        lost = [one.lost for one in group if one.lost is not None]
        yield Case(
            facts=_facts(model, group, lost, aborted[group[0].id]),
            verdict=Verdict.proved if is_shown else Verdict.likely,
            severity=Severity.error,
            **_columns(model, group, lost),
        )


def _columns(model: CaptureModel, silences: list[Silence], lost: list[Lost]) -> CaseColumns:
    """The columns that place a case; of calls that threw their lines tell the time."""
    place = _place(model, lost) if lost else Subject(silences[0].id)
    since, until = times_of(model.logs, [row for one in silences for row in one.quiet])
    return CaseColumns(
        transactional_id=place.transactional_id,
        producer_id=place.producer_id,
        topic=place.topic,
        partition=place.partition,
        first_offset=place.first_offset,
        last_offset=place.last_offset,
        since=min((one.since for one in lost), default=since),
        until=max((one.until for one in lost), default=until),
        count=len(silences),
        subjects=tuple(_place(model, [one]) for one in subjects(lost)),
    )


def _place(model: CaptureModel, lost: list[Lost]) -> Subject:
    """Id and producer and, where all data lie in one partition, the partition and its offsets."""
    spans = [span for one in lost for span in one.data]
    producer_id = only(one.end.producer_id for one in lost)
    code = only(int(span["partition_code"]) for span in spans)
    if code is None:
        return Subject(lost[0].id, producer_id)
    first, last = min(int(span["first_offset"]) for span in spans), max(int(span["last_offset"]) for span in spans)
    return Subject(lost[0].id, producer_id, *model.topic_partition(code), first, last)


def _facts(model: CaptureModel, silences: list[Silence], lost: list[Lost], others: int) -> Facts:
    first, client = silences[0], silences[0].client
    failed = {failure.call for one in silences for failure in one.client.failures}
    return Facts(
        id=first.id,
        name=client_name(client),
        client=client_seen(model, client),
        log=model.logs.facts.sources[client.source].path,
        log_since=instant(client.since),
        log_until=instant(max(seen_until(model.logs, client), client.until or -1)),
        lost=_lost_data(model, lost, others) if lost else None,
        calls=JoinedValues(call for call in ENDING_CALLS if call in failed),
        quiet=event_refs(model, first.quiet, 5),
        last_quiet=event_refs(model, first.quiet, 1),
        closes=event_refs(model, first.closes, 2),
    )


def _lost_data(model: CaptureModel, lost: list[Lost], others: int) -> LossFacts:
    spans, first = [span for one in lost for span in one.data], lost[0]
    markers = [span for span in first.end.markers or first.data if span["marker_offset"] >= 0]
    written = [data_ref(model, span) for span in first.data[:3]]
    return LossFacts(
        count=Count(len(lost)),
        records=Count(sum(int(span["records"]) for span in spans)),
        data=data(model, spans[:MOST_RANGES]),
        more=Count(len(spans) - MOST_RANGES) if len(spans) > MOST_RANGES else None,
        others=Count(others) if others > 0 else None,
        first_data=data(model, first.data),
        ended_by=first.end.ended_by,
        written=(*written, *(marker_ref(model, span) for span in markers[:3])),
    )


NO_LOG = Phrase(
    Untold,
    gap("{count:aborted transaction} of {names:3}", "the log of their client, to see whether the failure was logged"),
)

IF_NOT_DONE = "send the aborted records again, unless it did so already"
BY_ITSELF = pick(
    "is_shown",
    {
        True: "Mend first what failed before the abort: the same records may fail again. Then send "
        "the aborted records again, unless the application did so already"
    },
    f"If the application did not mean this abort, {IF_NOT_DONE}",
)
WORDS = Words(
    Facts,
    title=(
        pick("lost", {None: "{calls: and } failed"}, "{lost.records:record} aborted"),
        pick("is_shown", {True: ", logged at INFO or below only"}, ", no warning in its client's log"),
    ),
    summary=(
        pick(
            "lost",
            {None: "{calls: and } of {name} failed"},
            "{lost.records:record} of {id} in {lost.count:transaction} ({lost.data}[ and {lost.more:plain} more]) "
            "{lost.records:was|were} aborted: read_committed readers never get them",
        ),
        pick(
            "is_shown",
            {True: ". The client logged the failure at INFO or below only."},
            ". The application[ {perhaps}] did not notice: its log covers that time and has no warning of it.",
        ),
        pick(
            "lost.others",
            {None: ""},
            " {lost.others:more transaction} of the id {lost.others:was|were} aborted, not counted here: its log does "
            "not cover {lost.others:it|them}, or warns of {lost.others:it|them}.",
        ),
    ),
    actors=(included("client"),),
    steps=(
        step(
            (
                "P wrote {lost.first_data}; ",
                pick(
                    "lost.ended_by",
                    {
                        EndedBy.timeout: "the coordinator aborted it at its timeout",
                        EndedBy.client: "P aborted it itself",
                    },
                    "it was aborted",
                ),
            ),
            cites="lost.written",
            needs="lost",
        ),
        step(
            pick(
                "lost",
                {None: "A call that ends a transaction threw, logged at INFO or below"},
                "P logged what failed at INFO or below",
            ),
            "no line at WARN or ERROR in that time",
            cites="quiet",
            needs="quiet",
        ),
        step(
            "close() aborted the transaction, the only line that P logged of it",
            "no line of abortTransaction or of a failure",
            cites="closes",
            needs="closes",
            unless="quiet",
        ),
        step(
            "P logged no warning, no exception and no abort in that time",
            "{log}[ from {log_since} to {log_until}] covers the whole transaction",
            unless="quiet closes",
        ),
    ),
    considered=(
        ruled_out(
            "an intended rollback",
            pick("is_shown", {True: "an exception came before the end"}, "abortTransaction was not called"),
            cites="last_quiet",
        ),
        ruled_out("a process that died", "its log goes on to the end of the transaction, or to an orderly close()"),
        left_open(
            "a failure logged elsewhere",
            "the application may log to another file",
            decided_by="the application's other logs of that time",
            unless="quiet",
        ),
    ),
    remedies=(
        remedy(
            pick("lost.ended_by", {EndedBy.client: BY_ITSELF}, SEND_AGAIN),
            "application",
            needs="lost",
        ),
        remedy(
            text=LOOK_UP,
            where="operator",
            command=f"{DESCRIBE}{{id}}",
            unless="lost only_aborts",
        ),
        remedy(
            text="Prevent it: log exceptions of transactional calls and of send() at ERROR. Stop after them, or send "
            "the records again",
            where="application",
            restart_needed=True,
            needs="quiet",
        ),
        remedy(
            text="Prevent it: end every transaction with commitTransaction or abortTransaction before close(), and "
            "check the future of every send() before the commit",
            where="application",
            restart_needed=True,
            unless="quiet",
        ),
        remedy(
            text="Alert on aborted transactions (txn-abort-time-ns-total, the share of ABORT markers)",
            where="operator",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=7,
    caused_by=(
        *(
            (rule, same_id_and_time)
            for rule in ("abort_after_fatal_error", "aborted_by_client", "transaction_timed_out")
        ),
        ("misconfiguration", refused_its_records),
    ),
    decided_by=(Side.client,),
)
