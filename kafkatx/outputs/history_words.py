"""What a timeline's entries say, one sentence each: text and JSON use the same.

How sure  a sentence that says nothing of it is proved; "probably" is likely, "possibly" possible. What an ending rests
          on stands behind it as "(evidence: ...)".
"""

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
    Marker,
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
from kafkatx.terms.clocks import TWO_PHASE_TIMEOUT_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock, duration
from kafkatx.terms.topics import UNNAMED
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.log_refs import event_text, failure_phrase
from kafkatx.words.plurals import plural

MOST_SAID = 400
"""Characters of an exception's own message; Kafka's longest about fencing has 160, and its end is what matters."""
PERHAPS = {Verdict.proved: "", Verdict.likely: "probably ", Verdict.possible: "possibly "}
ENDERS = {
    EndedBy.client: "by its own client",
    EndedBy.timeout: "by the coordinator at its timeout",
    EndedBy.new_instance: "by the start of a new instance",
    EndedBy.unknown: "not known by whom",
}
REASONS = {
    Reason.commit: "only a client commits",
    Reason.own_epoch: "the epoch stayed the same, which only the client's own abort does",
    Reason.own_epoch_late: "the epoch stayed the same, which only the client's own abort does, even after the timeout",
    Reason.over_timeout: "its timeout had passed, and the abort raised the epoch",
    Reason.over_timeout_v2: "its timeout had passed; an abort by the client itself would look the same",
    Reason.over_timeout_two_clocks: "its timeout had passed, by the clocks of two coordinators",
    Reason.over_timeout_then_init: "its timeout had passed; a start followed at once and may have aborted it instead",
    Reason.over_timeout_late: "its timeout had passed, though the coordinator should have acted earlier",
    Reason.over_timeout_went_on: "its timeout had passed; the client went on, and its own abort would look the same",
    Reason.near_timeout: "the abort raised the epoch about when the timeout passed, and no start followed",
    Reason.raised_then_init: "the abort raised the epoch before the timeout had passed, and a start followed",
    Reason.raised_before_timeout: "the abort raised the epoch before the timeout had passed",
    Reason.v2_then_init: "aborted before its timeout had passed, and a start followed at once",
    Reason.v2_within_timeout: "aborted before its timeout had passed, and no start followed",
    Reason.v2_rows_end: "aborted before its timeout had passed; the records end before a start could show",
    Reason.v2_client_went_on: "the client went on with the epoch that the abort left",
    Reason.no_bump_release: "0.11.0.0 and 0.11.0.1 keep the epoch whoever aborts",
    Reason.rows_missing: "records of it are missing",
    Reason.rollback_line: "the coordinator's log has its rollback due to timeout",
    Reason.init_line: "aborted before its timeout had passed, and logs show who was given the next epoch",
    Reason.two_instances: "another instance's log shows the next epoch, and the old instance was refused after that",
    Reason.init_without_rollback: "its timeout had passed, but the coordinator's log has no rollback; a start followed",
    Reason.abort_line: "the client's log shows its own abort, and no refusal of it",
    Reason.no_rollback_line: "the coordinator's log covers that time and has no rollback",
    Reason.end_request: "the broker's request log has the client's own EndTxn",
    Reason.init_request: "the broker's request log has InitProducerId there, and no EndTxn of the client",
    Reason.own_bump_line: "the client itself asked for the next epoch, and was given it",
    Reason.state_refused: "its timeout had passed, and the client's own commit was refused afterwards",
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
            return f"{duration(entry.until - entry.at)} without an event."
        case RowsMissing():
            why = "the cleaner removed them (compaction)" if entry.by_compaction else "they are not in what was read"
            return f"Earlier records of this id are missing: {why}."
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
        if entry.verdict is Verdict.proved:
            text = f"The client raised its own epoch after its abort: {who} (evidence: its log)."
        else:
            text = f"The client {PERHAPS[entry.verdict]}raised its own epoch after its abort: {who}."
            text += " A restart that quick looks the same."
    else:
        may_be_fence = entry.why is Why.restart and entry.verdict is not Verdict.proved
        began = f"Instance {entry.instance} started{FENCED if may_be_fence else ''}"
        text = f"{began}: {who}. {capital(_why(entry))}"
    return text + (" Records before this one may be missing." if entry.rows_may_be_missing else "")


FENCED = ", or its id was fenced (Admin.fenceProducers; Connect's leader does so)"
"""What leaves the same record as a start, where no log shows one."""


def _why(entry: Initialisation) -> str:
    last, perhaps = entry.previous_epoch, PERHAPS[entry.verdict]
    before = f"producer id {entry.previous_producer_id}, epoch {last}"
    return {
        Why.first_start: f"{perhaps}the first start of the id.",
        Why.rows_before_missing: "the first record of the id here; earlier ones are gone (evidence: epoch above 0).",
        Why.restart: f"{perhaps}a new start with no transaction open; the epoch before was {last}.",
        Why.takeover: f"its InitProducerId {perhaps}aborted the open transaction of the instance before.",
        Why.after_timeout: f"{perhaps}a restart after the coordinator's abort, which had left epoch {last}.",
        Why.own_bump: "",
        Why.exhausted: f"{perhaps}a new producer id because the epochs of the last one were used up "
        f"({last} of {EXHAUSTED_EPOCH}).",
        Why.back_after_expiry: f"{perhaps}a restart after the coordinator had expired the id; "
        "the new producer id fences nobody.",
        Why.new_producer_id: f"a new producer id after {before}; no record shows why.",
        Why.rows_between_missing: f"records between this start and {before} are missing.",
        Why.expired: "",
    }[entry.why]


def capital(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def _expiry(entry: Expiry) -> str:
    idle = f" after {duration(max(0, entry.idle_ms))} without a record" if entry.idle_ms is not None else ""
    who = f" It had producer id {entry.producer_id}, epoch {entry.producer_epoch}."
    return (
        f"The coordinator expired the id{idle} (evidence: its tombstone).{who if entry.producer_id is not None else ''}"
    )


def _transaction(entry: Transaction) -> str:
    took = f" after {duration(entry.duration_ms)}" if entry.duration_ms is not None else ""
    amount, missing = _amount(entry), " Records of it are missing." if entry.rows_missing else ""
    if entry.outcome is Outcome.open:
        limit = f" Its timeout is {duration(entry.timeout_ms)}." if entry.timeout_ms is not None else ""
        limit = (
            " It is a two-phase transaction without a timeout." if entry.timeout_ms == TWO_PHASE_TIMEOUT_MS else limit
        )
        return f"Open, neither committed nor aborted: {amount}.{limit}{missing}"
    if entry.outcome is Outcome.lost:
        return f"Began: {amount}. No record shows how it ended.{_producer_after(entry)}{missing}"
    decided = f"{OUTCOMES[entry.outcome]}{took}{_by(entry)}: {amount}{_grounds(entry)}."
    return decided + _ended_before(entry) + _marker_wait(entry) + _producer_after(entry) + missing


def _ended_before(entry: Transaction) -> str:
    """What became of data that another marker ended: before the transaction's own came, or since its own is missing."""
    told = ""
    for kind, ended in (("COMMIT", "committed"), ("ABORT", "aborted")):
        foreign = [part for part in entry.parts if part.ended_by is not None and part.ended_by.kind == kind]
        for said, parts in (
            (f"had been {ended} before", [part for part in foreign if part.marker is not None]),
            (f"were {ended} by a later marker", [part for part in foreign if part.marker is None]),
        ):
            records = sum(part.records for part in parts)
            told += f" But {plural(records, 'record')} {said}." if records else ""
    return told


OUTCOMES = {
    Outcome.committed: "Committed",
    Outcome.aborted: "Aborted",
    Outcome.committing: "Not complete: the commit was decided",
    Outcome.aborting: "Not complete: the abort was decided",
}


def _amount(entry: Transaction) -> str:
    """`4 records in 2 partitions`; where no data were seen, no count of them."""
    seen = [part for part in entry.parts if part.first_offset is not None]
    if not entry.parts:
        return "its partitions are not known" if entry.decision_offset is None else "no partition"
    if not seen:
        return plural(len(entry.parts), "partition")
    of_all = f" (of {len(entry.parts):,})" if len(seen) < len(entry.parts) else ""
    return f"{plural(entry.records, 'record')} in {plural(len(seen), 'partition')}{of_all}"


def _by(entry: Transaction) -> str:
    """Who ended it; a commit is always its client's."""
    if entry.outcome in (Outcome.committed, Outcome.committing):
        return ""
    if entry.ended_by is EndedBy.unknown:
        return ", " + ENDERS[entry.ended_by]
    return f"{',' if entry.verdict is not Verdict.proved else ''} {PERHAPS[entry.verdict]}{ENDERS[entry.ended_by]}"


def _grounds(entry: Transaction) -> str:
    """What tells who ended it."""
    if entry.reason is Reason.commit or (entry.reason is Reason.rows_missing and entry.rows_missing):
        return ""
    return f" (evidence: {REASONS[entry.reason]})" if entry.reason in REASONS else ""


def _marker_wait(entry: Transaction) -> str:
    """How long the last of several markers took, where it was long; each stands beside its partition as well.

    Where the end is not complete it is no news when the last one came that is there: how many are not is.
    """
    waited = entry.decision_to_last_marker_ms
    unmarked = sum(part.status is Status.UNMARKED for part in entry.parts)
    if entry.outcome in (Outcome.committing, Outcome.aborting) and unmarked:
        return f" No marker in {unmarked:,} of {plural(len(entry.parts), 'partition')}."
    if waited is None or len(entry.parts) == 1 or waited < SLOW_MARKER_MS:
        return ""
    return f" Its last marker came {duration(waited)} after the decision."


SLOW_MARKER_MS = 1_000
"""A marker that came this late is worth a sentence."""


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
    name = "" if part.topic == UNNAMED else f"{part.topic}-{part.partition}"
    if part.first_offset is None:
        if part.status is Status.ELSEWHERE:
            return f"{name}: its log was not read".removeprefix(": ")
        data = "not known which data" if part.status is Status.UNDECIDED else "no data in what was read"
        return f"{name}: {data}; {_marker(part, decided_at)}".removeprefix(": ")
    begun = ", begun below the log start" if part.begun_before_log else ""
    before = f"ended by {_kind(part.ended_by)}; its own marker: " if part.ended_by is not None else ""
    said = f"{plural(part.records, 'record')}{begun}; {before}{_marker(part, decided_at)}"
    return f"{name} {_offsets(part)}, {said}".lstrip()


def _kind(marker: Marker) -> str:
    return f"{marker.kind or 'a marker emptied by the cleaner'} @ {marker.offset}, epoch {marker.producer_epoch}"


def _offsets(part: Part) -> str:
    return f"@ {part.first_offset}" + (f"..{part.last_offset}" if part.first_offset != part.last_offset else "")


def _marker(part: Part, decided_at: int | None) -> str:
    marker = part.marker
    if marker is not None:
        when = f", {_after(marker.at - decided_at)}" if marker.at is not None and decided_at is not None else ""
        return f"{_kind(marker)}{when}"
    return {
        Status.UNDECIDED: "two markers fit, not known which is its own",
        Status.ELSEWHERE: "the log with its marker was not read",
        Status.ONGOING: "no marker yet",
        Status.LOST: "its marker is among the offsets that are missing here",
    }.get(part.status, "NO MARKER")


def _leftover(entry: Leftover) -> str:
    part, epoch = entry.part, "" if entry.producer_epoch is None else f", epoch {entry.producer_epoch}"
    who = f"producer id {entry.producer_id}{epoch}"
    fits = " Two transactions of the id fit it." if entry.fits_several else ""
    if part.first_offset is None:
        return f"A marker of {who} without its data: {part_line(part, None)}.{fits}"
    kind = part.marker.kind if part.marker is not None else None
    ended = {"COMMIT": "Committed", "ABORT": "Aborted"}.get(kind or "")
    if ended is not None:
        return f"{ended}: {part_line(part, None)}; {who}.{fits}"
    alone = " No record of __transaction_state covers it." if part.status is Status.UNMARKED else ""
    return f"Not ended here: {part_line(part, None)}; {who}.{fits or alone}"


def _log_line(entry: LogLine) -> str:
    source = entry.logs.short_paths[int(entry.logs.events["source"][entry.row])]
    more = f" ({entry.lines:,} lines)" if entry.lines > 1 else ""
    return f"{source}:{entry.line}{more}: {_of_line(entry)}"


def _of_line(entry: LogLine) -> str:
    if entry.failure is None or entry.kind is not EventKind.failure:
        return event_text(entry.logs, entry.row)
    message = entry.failure.message
    said = message if len(message) <= MOST_SAID else message[: MOST_SAID - 3] + "..."
    return f"{failure_phrase(entry.failure)}{': ' if said else ''}{said}"


def is_zone_assumed(clock: Clock, has_rows: bool) -> bool:
    """Whether a source's times may be of any zone: nothing names it, and no record with a time of its own agrees."""
    return clock.zone_from == "assumed UTC" and (clock.skew_ms is None or not has_rows)


def clock_line(name: str, clock: Clock, tolerance_ms: int, has_rows: bool = True) -> str | None:
    """How a source's clock lies to the brokers', None where nothing is known of it.

    `client-a.log: clock 3 ms ahead of the brokers (evidence: 4 events in both)`.
    """
    said = ["its times name no zone, and are shown as printed"] if is_zone_assumed(clock, has_rows) else []
    if clock.zone_ms:
        how = {"by its own lines": "its own lines", "estimated": "events that brokers have too"}.get(clock.zone_from)
        said.append(f"times of zone {_zone(clock.zone_ms)} ({f'evidence: {how}' if how else clock.zone_from})")
    if clock.skew_ms is not None:
        where = "ahead of" if clock.skew_ms >= 0 else "behind"
        pairs = f"(evidence: {plural(clock.pairs, 'event')} in both)"
        said.append(f"clock {duration(abs(clock.skew_ms))} {where} the brokers {pairs}")
        if abs(clock.skew_ms) > tolerance_ms:
            said.append("too far to compare its times with theirs")
    return f"{name}: {', '.join(said)}" if said else None


def _zone(zone_ms: int) -> str:
    minutes = abs(zone_ms) // 60_000
    return f"{'-' if zone_ms < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


def _folded(entry: Folded) -> str:
    parts = [_counted(outcome, by, count) for outcome, by, count in entry.transactions]
    parts += [plural(entry.initialisations, "start")] if entry.initialisations else []
    parts += [plural(entry.leftovers, "transaction") + " known by markers only"] if entry.leftovers else []
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
    ender = "" if outcome is Outcome.committed else f" {ENDERS[by]}"
    return f"{plural(count, f'{outcome} transaction')}{ender}"


def span(shortest_ms: int, longest_ms: int) -> str:
    """`30 ms to 400 ms`, or one of the two where they read the same."""
    low, high = duration(shortest_ms), duration(longest_ms)
    return low if low == high else f"{low} to {high}"
