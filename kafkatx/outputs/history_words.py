"""What a timeline's entries say, one sentence each: text and JSON use the same."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.events import (
    Expiry,
    Folded,
    Idle,
    Initialisation,
    Leftover,
    LogLine,
    Outcome,
    Part,
    ProtocolChange,
    RowsMissing,
    TimelineEntry,
    Transaction,
)
from kafkatx.histories.initialisations import EXHAUSTED_EPOCH, Why
from kafkatx.histories.logs.log_model import Clock
from kafkatx.histories.transaction_partitions import Status
from kafkatx.terms.catalogue.loading import event_words
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.evidence_refs import plural
from kafkatx.words.log_refs import MOST_QUOTED, event_text, failure_phrase

ENDERS = {
    EndedBy.client: "by the client",
    EndedBy.timeout: "by the coordinator: timeout",
    EndedBy.new_instance: "by the start of a new instance",
    EndedBy.unknown: "by somebody who can't be told",
}
REASONS = {
    Reason.commit: "only a client commits",
    Reason.own_epoch: "the epoch stayed, as only the client's own abort leaves it",
    Reason.own_epoch_late: "the epoch stayed, as only the client's own abort leaves it, though the timeout was over",
    Reason.over_timeout: "the timeout was over and the end raised the epoch",
    Reason.over_timeout_then_init: "the timeout was over; a start followed at once, which may have done it instead",
    Reason.over_timeout_late: "the timeout was over for longer than the coordinator takes to look",
    Reason.over_timeout_went_on: "the timeout was over; its client's own abort succeeds then too, and it went on",
    Reason.near_timeout: "the epoch was raised as the timeout ended, by two coordinators' clocks; no start followed",
    Reason.raised_then_init: "the epoch was raised before the timeout was over, and a start followed",
    Reason.raised_before_timeout: "the epoch was raised before the timeout was over",
    Reason.v2_then_init: "before the timeout was over, and a start followed at once",
    Reason.v2_within_timeout: "before the timeout was over, and no start followed",
    Reason.v2_rows_end: "before the timeout was over; the rows end before a start could show",
    Reason.v2_client_went_on: "the producer went on with the epoch it was given",
    Reason.no_bump_release: "0.11.0.0 and 0.11.0.1 leave the epoch as it is in every case",
    Reason.rows_missing: "rows of it are not at hand",
    Reason.rollback_line: "the coordinator's log says that it rolled it back due to timeout",
    Reason.init_line: "before the timeout was over, and logs show who was given the next epoch",
    Reason.two_instances: "another instance's log shows the next epoch, and the old instance was refused after that",
    Reason.init_without_rollback: "the timeout was over, yet the coordinator's log has no rollback; a start followed",
    Reason.abort_line: "the client's log shows its own abort, and no refusal of it",
    Reason.no_rollback_line: "the coordinator's log covers it and has no rollback",
    Reason.end_request: "the broker's request log shows the client's own EndTxn",
    Reason.init_request: "the broker's request log shows InitProducerId there, and no EndTxn of the client",
    Reason.own_bump_line: "the client itself asked for the next epoch, and was given it",
    Reason.state_refused: "the timeout was over, and the client's own commit was refused afterwards",
}
PROTOCOLS = {Protocol.classic: "classic protocol", Protocol.v2: "transactions v2", Protocol.unknown: "unknown protocol"}


def sentence(entry: TimelineEntry) -> str:
    """Say what happened, without its time."""
    match entry:
        case Initialisation():
            return _initialisation(entry)
        case Transaction():
            return _transaction(entry)
        case Leftover():
            return _leftover(entry)
        case Expiry():
            return _expiry(entry)
        case LogLine():
            return _log_line(entry)
        case ProtocolChange():
            return f"From here on {PROTOCOLS[entry.after]} instead of {PROTOCOLS[entry.before]}."
        case Idle():
            return f"Nothing for {duration(entry.until - entry.at)}."
        case RowsMissing():
            who = (
                "the cleaner removed them (compaction)" if entry.by_compaction else "the log at hand does not hold them"
            )
            return f"Earlier rows of this id are missing: {who}."
        case Folded():
            return _folded(entry)


def details(entry: TimelineEntry) -> Iterator[str]:
    """Say what belongs to an entry: the partitions of a transaction, one line each."""
    if isinstance(entry, Transaction):
        for part in entry.parts:
            yield part_line(part, entry.decided_at)


def _initialisation(entry: Initialisation) -> str:
    who = f"producer id {entry.producer_id}, epoch {entry.producer_epoch}"
    if entry.why is Why.own_bump:
        doubt = "likely; a restart that quick looks the same"
        doubt = "proved: its log shows it" if entry.verdict is Verdict.proved else doubt
        text = f"The client raised its own epoch after its abort: {who} ({doubt})."
    else:
        text = f"Instance {entry.instance} starts: {who}. {_why(entry)}"
    return text + (" Rows may be missing before this one." if entry.rows_may_be_missing else "")


def _why(entry: Initialisation) -> str:
    last = entry.previous_epoch
    before, sure = f"producer id {entry.previous_producer_id}, epoch {last}", entry.verdict.name
    return {
        Why.first_start: f"First start of the id ({sure}).",
        Why.rows_before_missing: f"The first row at hand; an epoch above 0 says that earlier rows are gone ({sure}).",
        Why.restart: f"A start with nothing open, after epoch {last} ({sure}).",
        Why.takeover: f"It took the id over: its InitProducerId had aborted the open transaction ({sure}).",
        Why.after_timeout: f"A start after the coordinator's abort, which had left epoch {last} ({sure}).",
        Why.own_bump: "",
        Why.exhausted: f"A new producer id: the last was at epoch {last}, and {EXHAUSTED_EPOCH} ends them ({sure}).",
        Why.back_after_expiry: f"Back after the coordinator forgot the id; the new producer id fences nobody ({sure}).",
        Why.new_producer_id: f"A new producer id after {before}; no row says why.",
        Why.rows_between_missing: f"Rows between this and {before} are not at hand ({sure}).",
        Why.expired: "",
    }[entry.why]


def _expiry(entry: Expiry) -> str:
    idle = f" after {duration(max(0, entry.idle_ms))} without a row" if entry.idle_ms is not None else ""
    who = (
        f" It had been producer id {entry.producer_id}, epoch {entry.producer_epoch}."
        if entry.producer_id is not None
        else ""
    )
    return f"The coordinator forgot the id (a tombstone){idle}.{who}"


def _transaction(entry: Transaction) -> str:
    took = f" after {duration(entry.duration_ms)}" if entry.duration_ms is not None else ""
    amount = _amount(entry)
    if entry.outcome is Outcome.open:
        text = f"Open, not decided: {amount}. Timeout {_timeout(entry)}."
    elif entry.outcome is Outcome.lost:
        text = f"Began, and its end is among no rows at hand: {amount}."
    else:
        text = f"{OUTCOMES[entry.outcome]} {ENDERS[entry.ended_by]}{took} ({_how_sure(entry)}): {amount}."
        text += _marker_wait(entry)
    return text + _producer_after(entry) + (" Rows of it are missing." if entry.rows_missing else "")


OUTCOMES = {
    Outcome.committed: "Committed",
    Outcome.aborted: "Aborted",
    Outcome.committing: "To be committed, decided but not complete,",
    Outcome.aborting: "To be aborted, decided but not complete,",
}


def _amount(entry: Transaction) -> str:
    if entry.parts:
        return f"{plural(entry.records, 'record')} in {plural(len(entry.parts), 'partition')}"
    return "its partitions are not known" if entry.decision_offset is None else "nothing was written"


def _how_sure(entry: Transaction) -> str:
    if entry.reason is Reason.commit:
        return entry.verdict.name
    return f"{entry.verdict.name}: {REASONS.get(entry.reason, entry.reason.name)}"


def _timeout(entry: Transaction) -> str:
    return "unknown" if entry.timeout_ms is None else duration(entry.timeout_ms)


def _marker_wait(entry: Transaction) -> str:
    """How long the last of several markers took; a single one stands beside its partition."""
    waited = entry.decision_to_last_marker_ms
    if waited is None:
        return " No marker of it is at hand." if entry.parts else ""
    if len(entry.parts) == 1:
        return ""
    if waited < 0:
        return f" Its last marker is dated {duration(-waited)} before the decision (another broker's clock)."
    return f" Its last marker came {duration(waited)} after the decision."


def _after(waited_ms: int) -> str:
    """Say how long after the decision a marker came; another broker's clock may date it before."""
    return f"{duration(waited_ms)} later" if waited_ms >= 0 else f"dated {duration(-waited_ms)} earlier"


def _producer_after(entry: Transaction) -> str:
    """What the end did to producer id and epoch, where it did something that the next entry does not show."""
    if entry.completed_producer_id is not None and entry.completed_producer_id != entry.producer_id:
        after = entry.completed_producer_id
        return f" The epochs of producer id {entry.producer_id} were used up: the producer goes on as {after}."
    if entry.protocol is Protocol.classic and entry.producer_epoch is not None and entry.decision_epoch is not None:
        raised = entry.decision_epoch > entry.producer_epoch
        return f" This raised the epoch from {entry.producer_epoch} to {entry.decision_epoch}." if raised else ""
    return ""


def part_line(part: Part, decided_at: int | None) -> str:
    """`payments-0 @ 3..5, 3 records; ABORT @ 6`: a partition's data and marker."""
    data = f"{part.topic}-{part.partition}"
    if part.first_offset is not None:
        span = (
            part.first_offset if part.first_offset == part.last_offset else f"{part.first_offset}..{part.last_offset}"
        )
        data += f" @ {span}, {plural(part.records, 'record')}"
        data += ", begun below the log start" if part.begun_before_log else ""
    else:
        data += ", no data at hand"
    return f"{data}; {_marker(part, decided_at)}"


def _marker(part: Part, decided_at: int | None) -> str:
    marker = part.marker
    if marker is not None:
        when = f", {_after(marker.at - decided_at)}" if marker.at is not None and decided_at is not None else ""
        return (
            f"{marker.kind or 'a marker emptied by the cleaner'} @ {marker.offset}, epoch {marker.producer_epoch}{when}"
        )
    return {
        Status.UNDECIDED: "the evidence fits two readings of which marker is its own",
        Status.ELSEWHERE: "its log is not at hand",
        Status.ONGOING: "no marker yet",
        Status.LOST: "its marker was where offsets are missing",
    }.get(part.status, "NO MARKER")


def _leftover(entry: Leftover) -> str:
    epoch = "" if entry.producer_epoch is None else f" epoch {entry.producer_epoch}"
    why = "the evidence fits two transactions" if entry.fits_several else "no transaction at hand owns it"
    what = "A marker without data" if entry.part.first_offset is None else "Data"
    return f"{what} of producer id {entry.producer_id}{epoch}, {why}: {part_line(entry.part, None)}."


def _log_line(entry: LogLine) -> str:
    source = entry.logs.short_paths[int(entry.logs.events["source"][entry.row])]
    more = f" ({entry.lines:,} lines)" if entry.lines > 1 else ""
    return f"{source}:{entry.line}{more}: {_of_line(entry)}"


def _of_line(entry: LogLine) -> str:
    if entry.failure is None or entry.kind is not EventKind.failure:
        return event_text(entry.logs, entry.row)
    message = entry.failure.message
    said = message if len(message) <= MOST_QUOTED else message[: MOST_QUOTED - 3] + "..."
    return f"{failure_phrase(entry.failure)}{': ' if said else ''}{said}"


def clock_line(name: str, clock: Clock, tolerance_ms: int) -> str | None:
    """How a source's clock lies to the brokers', None where nothing is known of it.

    `client-a.log: clock 3 ms ahead of the brokers (4 pairs)`.
    """
    said = []
    if clock.zone_ms:
        pairs = f" from {plural(clock.pairs, 'event')}" if clock.zone_from == "estimated" and clock.pairs else ""
        said.append(f"zone {_zone(clock.zone_ms)} {clock.zone_from}{pairs}")
    if clock.skew_ms is not None:
        where = "ahead of" if clock.skew_ms >= 0 else "behind"
        said.append(f"clock {duration(abs(clock.skew_ms))} {where} the brokers ({plural(clock.pairs, 'pair')})")
        if abs(clock.skew_ms) > tolerance_ms:
            said.append("too far to compare its times with theirs")
    return f"{name}: {', '.join(said)}" if said else None


def _zone(zone_ms: int) -> str:
    minutes = abs(zone_ms) // 60_000
    return f"{'-' if zone_ms < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


def _folded(entry: Folded) -> str:
    parts = [_counted(outcome, by, count) for outcome, by, count in entry.transactions]
    parts += [plural(entry.initialisations, "start")] if entry.initialisations else []
    parts += [plural(entry.leftovers, "marker") + " without a transaction at hand"] if entry.leftovers else []
    parts += [_lines(entry)] if entry.log_lines else []
    text = ", ".join(parts)
    if entry.shortest_ms is not None and entry.longest_ms is not None:
        text += f", {span(entry.shortest_ms, entry.longest_ms)} each"
    text += f", {plural(entry.records, 'record')}" if entry.records else ""
    if entry.first_epoch is not None and entry.last_epoch is not None and entry.first_epoch != entry.last_epoch:
        text += f", epochs {entry.first_epoch} to {entry.last_epoch}"
    return f"{text}, until {clock(entry.until)}."


def _lines(entry: Folded) -> str:
    said = f" ({event_words()[entry.log_kind].phrase})" if entry.log_kind is not None else ""
    return plural(entry.log_lines, "line") + " of logs" + said


def _counted(outcome: Outcome, by: EndedBy, count: int) -> str:
    ender = "" if by is EndedBy.client and outcome is Outcome.committed else f" {ENDERS[by]}"
    return f"{count:,} {outcome} {'transaction' if count == 1 else 'transactions'}{ender}"


def span(shortest_ms: int, longest_ms: int) -> str:
    """`30 ms to 400 ms`, or one of the two where they read the same."""
    low, high = duration(shortest_ms), duration(longest_ms)
    return low if low == high else f"{low} to {high}"
