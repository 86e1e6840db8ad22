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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.growing import Array
from kafkatx.histories.logs.story import ClientInstance, Initialised, LogStory
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.rules.finding import Finding, NotCheckable, Subject
from kafkatx.rules.in_logs.clients import only, times_of
from kafkatx.rules.sharing.one_id import is_frameworks
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.terms.times import clock
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Remedy, Step
from kafkatx.words.facts import client_name
from kafkatx.words.log_places import client_actor, event_places
from kafkatx.words.places import data_of, data_phrase, data_place, marker_place, parts_of, plural

RULE = "silent_failure"
NO_FAILURE = (
    EventKind.produce_retry,
    EventKind.node_disconnected,
    EventKind.connection_failed,
    EventKind.request_timed_out,
    EventKind.request_cancelled,
    EventKind.bootstrap_disconnected,
    EventKind.coordinator_found,
    EventKind.config_values,
)
"""What a client's network layer says at WARN of things that it tries again: no word of a lost transaction."""
EXCEPTIONS = (
    EventKind.failure,
    EventKind.to_abortable,
    EventKind.to_fatal,
    EventKind.fenced,
    EventKind.batch_expired,
    EventKind.batches_failed,
    EventKind.produce_failed,
    EventKind.await_timeout,
)
"""Lines that show that something failed for good."""
SAYS_ABORT = (2, 6)
"""From this release on a client logs abortTransaction; before it an intended abort leaves no line."""
SHARED_CLOCK_MS = 500
"""What a client's clock may be off beside the skew that events seen from both sides show."""
LATEST = 1 << 62
"""A client meets the coordinator's timeout at its next call, however late."""
ENDING_CALLS = ("commitTransaction", "abortTransaction")


@dataclass(frozen=True, slots=True)
class _Lost:
    """Aborted data of one transaction: its row (-1: none is at hand), its spans, start and end, and who ended it."""

    row: int
    spans: tuple[Array, ...]
    producer_id: int
    since: int
    until: int
    ended_by: EndedBy

    @property
    def records(self) -> int:
        return sum(int(span["records"]) for span in self.spans)


@dataclass(frozen=True, slots=True)
class _Case:
    """What was lost (None: only the log tells) at a client, the quiet lines that show it, the close that did it."""

    client: ClientInstance
    lost: _Lost | None
    quiet: tuple[int, ...]
    closes: tuple[int, ...]


def check(story: Story) -> Iterator[Finding | NotCheckable]:
    """One finding for each id and kind of silence; one entry for what no client's log covers."""
    groups: dict[tuple[str, bool], list[_Case]] = {}
    alone: list[str] = []
    if not story.logs.clients and not story.logs.has_side(Side.client):
        return  # no client's log to be silent, nor one that covers some of the ids
    windows = _Windows(story.logs)
    for transactional_id, lost in _lost(story):
        if is_frameworks(story, transactional_id):
            continue
        client = _client_of(story, transactional_id, lost)
        case = _case(story.logs, windows, client, lost) if client is not None else None
        if case is not None:
            groups.setdefault((transactional_id, bool(case.quiet)), []).append(case)
        elif client is None and not any(story.logs.clients_of(transactional_id)):
            alone.append(transactional_id)
    for case in _by_logs_alone(story, windows):
        groups.setdefault((case.client.transactional_id or "", True), []).append(case)
    for (transactional_id, is_shown), cases in groups.items():
        yield _finding(story, transactional_id, is_shown, cases)
    if alone and story.logs.has_side(Side.client):
        names = list(dict.fromkeys(alone))
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        scope = f"{plural(len(alone), 'aborted transaction')} of {', '.join(names[:3])}{more}"
        yield NotCheckable(RULE, scope, "the log of their client: whether anybody was told")


def _lost(story: Story) -> Iterator[tuple[str, _Lost]]:
    """Aborted transactions with records, but those that the next instance took over or an operator ended."""
    ended = story.ends.rows().ended_by
    chosen = np.isin(ended, [EndedBy.client, EndedBy.timeout, EndedBy.unknown]) & (story.transactions["decision"] == 3)
    for row in np.flatnonzero(chosen).tolist():
        transaction, spans = story.transactions[row], tuple(data_of(story, row))
        if spans:
            since = int(transaction["started_at"])
            until = int(max(transaction["decided_at"], transaction["decision_timestamp"]))
            producer, name = int(transaction["producer_id"]), story.transactional_id(int(transaction["id_code"]))
            yield name, _Lost(row, spans, producer, since, until, EndedBy(int(ended[row])))
    yield from _lost_without_rows(story)


def _lost_without_rows(story: Story) -> Iterator[tuple[str, _Lost]]:
    """The same of data whose coordinator's rows are not at hand, where a client's log tells the id."""
    if not story.logs.clients:
        return
    owners = {one: client for client in story.logs.clients if client.owns_producer_ids for one in client.producer_ids}
    ends = story.ends
    for number in ends.numbers(ToldBy.data):
        span, ended_by, operator = story.spans[ends.span(number)], ends.ended_by[number], ends.by_operator[number]
        client = owners.get(int(span["producer_id"]))
        if client is None or client.transactional_id is None or operator or ended_by == EndedBy.new_instance:
            continue
        times = int(span["first_timestamp"]), int(span["marker_timestamp"])
        lost = _Lost(-1, (span,), int(span["producer_id"]), *times, EndedBy(int(ended_by)))
        yield client.transactional_id, lost


def _client_of(story: Story, transactional_id: str, lost: _Lost) -> ClientInstance | None:
    """The client instance whose transaction it was, if its log covers it: by witnesses, else by the last grant."""
    if lost.row >= 0:
        witnessed = story.logs.client(int(story.ends.witnesses.instance[lost.row]))
        owners = [witnessed] if witnessed is not None else []
    else:
        limit = lost.since + CLIENT_TOLERANCE_MS
        named = [client for client in story.logs.clients_of(transactional_id) if client.owns_producer_ids]
        owners = [client for client in named if any(_is_grant(one, lost, limit) for one in client.initialisations)][-1:]
    return next((client for client in owners if _covers(story.logs, client, lost)), None)


def _is_grant(given: Initialised, lost: _Lost, limit: int) -> bool:
    return given.producer_id == lost.producer_id and given.at is not None and given.at <= limit


def _covers(logs: LogStory, client: ClientInstance, lost: _Lost) -> bool:
    """Whether the client lived then and its log reaches to the end of the transaction, or to an orderly close()."""
    skew, tolerance = _clock(logs, client)
    since, until = lost.since + skew, lost.until + skew
    if client.since is None or lost.since < 0 or client.since > since + tolerance:
        return False
    if client.closed_at is not None and client.closed_at >= since - tolerance:
        return lost.ended_by is not EndedBy.timeout
    return logs.covers(client.source, client.since, until)


def _clock(logs: LogStory, client: ClientInstance) -> tuple[int, int]:
    """How far a client's clock is ahead of the brokers', and what it may be off beside that."""
    clock = logs.clocks[client.source]
    if clock.skew_ms is None:
        return 0, CLIENT_TOLERANCE_MS
    return clock.skew_ms, min(CLIENT_TOLERANCE_MS, SHARED_CLOCK_MS + 4 * (clock.spread_ms or 0))


def _case(logs: LogStory, windows: _Windows, client: ClientInstance, lost: _Lost) -> _Case | None:
    """The silence about lost data, None where somebody was told or wanted it so."""
    skew, tolerance = _clock(logs, client)
    until = LATEST if lost.ended_by is EndedBy.timeout else lost.until + skew + CLIENT_TOLERANCE_MS
    since = lost.since + skew - tolerance
    if windows.is_loud(client, since, until):
        return None
    rows = windows.rows(client, since, until)
    levels, kinds = logs.events["level"][rows], logs.events["kind"][rows]
    quiet = rows[np.isin(kinds, np.array(EXCEPTIONS)) & (levels >= 0)]
    called = rows[(kinds == EventKind.abort_called) & (logs.times[rows] <= lost.until + skew + tolerance)]
    closes = rows[kinds == EventKind.abort_on_close]
    if len(quiet):
        is_wanted = len(called) and not (quiet < called[-1]).any()
        return None if is_wanted else _Case(client, lost, tuple(quiet.tolist()), tuple(closes.tolist()))
    if (levels >= Level.warn).any() or len(called) or not _can_tell(logs, client, lost, len(closes) > 0):
        return None
    return _Case(client, lost, (), tuple(closes.tolist()))


class _Windows:
    """Lines of a client, and those of its log that are nobody's (its application's), between two times.

    Each client's lines are put in the order of their times once, however many transactions it lost.
    """

    def __init__(self, logs: LogStory) -> None:
        self.logs = logs
        loud = (logs.events["level"] >= Level.warn) & ~np.isin(logs.events["kind"], np.array(NO_FAILURE))
        self.loud: Array = loud
        nobodys = np.flatnonzero(logs.owners < 0)
        nobodys = nobodys[np.argsort(logs.events["source"][nobodys], kind="stable")]
        sources, starts = np.unique(logs.events["source"][nobodys], return_index=True)
        self.nobodys = dict(zip(sources.tolist(), np.split(nobodys, starts[1:]), strict=False))
        self.known: dict[int, _Lines] = {}

    def rows(self, client: ClientInstance, since: int, until: int) -> Array:
        """Row numbers of the lines, in order."""
        lines = self._lines(client)
        first, end = np.searchsorted(lines.times, since), np.searchsorted(lines.times, until, "right")
        return np.sort(lines.rows[first:end])

    def is_loud(self, client: ClientInstance, since: int, until: int) -> bool:
        """Whether a line among them is a warning that tells of a failure."""
        times = self._lines(client).loud_times
        return bool(np.searchsorted(times, since) < np.searchsorted(times, until, "right"))

    def _lines(self, client: ClientInstance) -> _Lines:
        if client.number not in self.known:
            mine = np.array(client.rows, np.int64)
            others = self.nobodys.get(client.source, mine[:0])
            rows = np.concatenate((mine[self.logs.owners[mine] == client.number], others))
            rows = rows[np.argsort(self.logs.times[rows], kind="stable")]
            times = self.logs.times[rows]
            self.known[client.number] = _Lines(rows, times, times[self.loud[rows]])
        return self.known[client.number]


@dataclass(frozen=True, slots=True)
class _Lines:
    """Rows and times of lines in the order of their times, and the times of the loud ones."""

    rows: Array
    times: Array
    loud_times: Array


def _can_tell(logs: LogStory, client: ClientInstance, lost: _Lost, is_closed: bool) -> bool:
    """Whether a log without any line about it excludes that the application wanted the abort."""
    says_calls = client.implementation == "java" and logs.facts.sources[client.source].lowest_level <= Level.info
    if is_closed or lost.ended_by is EndedBy.timeout:
        return says_calls
    return says_calls and client.release >= SAYS_ABORT


def _by_logs_alone(story: Story, windows: _Windows) -> Iterator[_Case]:
    """Commits and aborts that threw, shown at INFO or below and nowhere louder, of ids of which no row is at hand."""
    logs, known = story.logs, story.labels.id_codes
    for client in logs.clients:
        name = client.transactional_id
        if name is None or name in known or is_frameworks(story, name):
            continue
        ended = [failure for failure in client.failures if failure.call in ENDING_CALLS and failure.at is not None]
        if not ended or any(failure.level > Level.info or failure.level < 0 for failure in client.failures):
            continue
        first, last = ended[0].at or 0, ended[-1].at or 0
        if not windows.is_loud(client, first - CLIENT_TOLERANCE_MS, last + CLIENT_TOLERANCE_MS):
            yield _Case(client, None, tuple(row for failure in ended for row in failure.rows or (failure.row,)), ())


def _finding(story: Story, transactional_id: str, is_shown: bool, cases: list[_Case]) -> Finding:
    lost = [case.lost for case in cases if case.lost is not None]
    spans = [span for one in lost for span in one.spans]
    code = only(int(span["partition_code"]) for span in spans)
    place = story.topic_partition(code) if code is not None else (None, None)
    since, until = times_of(story.logs, [row for case in cases for row in case.quiet])
    return Finding(
        rule=RULE,
        verdict=Verdict.proved if is_shown else Verdict.likely,
        severity=Severity.error,
        summary=_summary(story, transactional_id, is_shown, lost, cases),
        transactional_id=transactional_id,
        producer_id=only(one.producer_id for one in lost),
        topic=place[0],
        partition=place[1],
        first_offset=min(int(span["first_offset"]) for span in spans) if code is not None else None,
        last_offset=max(int(span["last_offset"]) for span in spans) if code is not None else None,
        since=min((one.since for one in lost), default=since),
        until=max((one.until for one in lost), default=until),
        count=len(cases),
        subjects=_subjects(story, transactional_id, lost),
        actors=(client_actor(story, cases[0].client),),
        steps=_steps(story, cases[0]),
        considered=_considered(story, cases[0]),
        remedies=_remedies(cases[0]),
    )


def _subjects(story: Story, transactional_id: str, lost: list[_Lost]) -> tuple[Subject, ...]:
    if len(lost) < 2:
        return ()
    chosen = dict.fromkeys((0, len(lost) // 2, len(lost) - 1))
    return tuple(_subject(story, transactional_id, lost[at]) for at in chosen)


def _subject(story: Story, transactional_id: str, lost: _Lost) -> Subject:
    code = only(int(span["partition_code"]) for span in lost.spans)
    if code is None:
        return Subject(transactional_id, lost.producer_id)
    first, last = min(int(s["first_offset"]) for s in lost.spans), max(int(s["last_offset"]) for s in lost.spans)
    return Subject(transactional_id, lost.producer_id, *story.topic_partition(code), first, last)


def _summary(story: Story, transactional_id: str, is_shown: bool, lost: list[_Lost], cases: list[_Case]) -> str:
    told = "its log shows the failure below WARN only" if is_shown else "its log has no warning of it"
    if not lost:
        failed = sorted({failure.call or "" for case in cases for failure in case.client.failures} & set(ENDING_CALLS))
        return f"{' and '.join(failed)} of {client_name(cases[0].client)} failed, and {told}"
    records = plural(sum(one.records for one in lost), "record")
    where = data_phrase(story, [span for one in lost for span in one.spans])
    return f"{records} of {transactional_id} in {plural(len(lost), 'transaction')} ({where}) were aborted, and {told}"


def _steps(story: Story, case: _Case) -> tuple[Step, ...]:
    steps = []
    if case.lost is not None:
        markers = [story.spans[int(part["marker"])] for part in _parts(story, case.lost) if part["marker"] >= 0]
        how = {EndedBy.timeout: "by the coordinator's timeout", EndedBy.client: "at its client's own request"}
        text = f"P wrote {data_phrase(story, case.lost.spans)}; all of it was aborted {how.get(case.lost.ended_by, '')}"
        places = [data_place(story, span) for span in case.lost.spans[:3]]
        places += [marker_place(story, span) for span in (markers or _with_marker(case.lost))[:3]]
        steps.append(Step(text.rstrip(), "read_committed readers never get these records", tuple(places)))
    if case.quiet:
        text = "its log shows what failed, at INFO or below" if case.lost else "a call that ends a transaction threw"
        why = "no line at WARN or ERROR says it in that time"
        steps.append(Step(text, why, event_places(story, case.quiet, 5)))
    elif case.closes:
        text = "its log shows only that close() aborted the transaction"
        why = "nobody had called commitTransaction or abortTransaction: clients log an abort as well as a failure"
        steps.append(Step(text, why, event_places(story, case.closes, 2)))
    else:
        source = story.logs.facts.sources[case.client.source]
        first, last = case.client.since, case.client.until
        span = f" from {clock(first)} to {clock(last)}" if first is not None and last is not None else ""
        text = f"its log ({source.path}{span}) has no warning, no exception and no abort in that time"
        steps.append(Step(text, "the log covers the transaction from its start to its end"))
    return tuple(steps)


def _parts(story: Story, lost: _Lost) -> Array:
    return parts_of(story, lost.row) if lost.row >= 0 else story.parts.rows[:0]


def _with_marker(lost: _Lost) -> list[Array]:
    return [span for span in lost.spans if span["marker_offset"] >= 0]


def _considered(story: Story, case: _Case) -> tuple[Considered, ...]:
    wanted = "abortTransaction was not called" if not case.quiet else "an exception stands before the abort"
    return (
        Considered("an intended rollback", wanted, event_places(story, case.quiet, 1)),
        Considered("a process that died", "its log goes on to the end of the transaction, or to an orderly close()"),
    )


def _remedies(case: _Case) -> tuple[Remedy, ...]:
    remedies = []
    if case.quiet:
        remedies.append(
            Remedy(
                text="log exceptions of transactional calls and of send() at ERROR; stop, or write the records again",
                where="application",
                derived_from="the exception is in the log at INFO or below",
                restart_needed=True,
            )
        )
    else:
        remedies.append(
            Remedy(
                text="end every transaction with commitTransaction or abortTransaction before close(), and look at the "
                "future of every send() before the commit",
                where="application",
                derived_from="neither a commit nor an error is in the log",
                restart_needed=True,
            )
        )
    remedies.append(
        Remedy("alarm on aborted transactions (txn-abort-time-ns-total, the share of ABORT markers)", "operator")
    )
    return tuple(remedies)
