"""What must be visible, beside the order of time, for one finding to be the cause of another one.

Stretches of different clocks are compared with the tolerance of clients. Where logs tell who led a partition, a broker
that did not is no cause; where nothing tells, lying in the same time is all there is.
"""

from __future__ import annotations

from kafkatx.findings.finding import Finding
from kafkatx.findings.rule import Condition
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.own_logs import OwnLog
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, share_most
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import parse_time
from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from kafkatx.words.values import bare

TRANSACTIONAL_ID = "transactional.id"
ON_DISK_MS = 60_000
"""After so long what was written is on disk: an operating system writes back what is older than 30 s every 5 s."""


def same_subject(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """The same partition where both have one, else the same id (or one of those that the cause is about)."""
    if cause.transactional_id is not None and cause.transactional_id != effect.transactional_id:
        return False
    here = (cause.topic, cause.partition)
    if cause.topic is not None and here not in ((effect.topic, effect.partition), (effect.topic, None)):
        return False
    if cause.transactional_id is not None:
        return True
    names = {subject.transactional_id for subject in cause.subjects}
    if names - {None}:
        return effect.transactional_id in names
    return cause.producer_id == effect.producer_id and cause.first_offset == effect.first_offset


def same_id(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """The same transactional.id, or where neither has one the same producer id."""
    if cause.transactional_id is not None or effect.transactional_id is not None:
        return effect.transactional_id is not None and effect.transactional_id in _ids(cause)
    return cause.producer_id is not None and cause.producer_id == effect.producer_id


def same_id_and_time(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """The same id, and stretches that touch: an earlier incident of an id does not explain a later one.

    One epoch of one producer id ends once: where both are about the same, a frozen client may learn of it much later.
    """
    if not same_id(model, cause, effect):
        return False
    is_known = cause.producer_id is not None and cause.producer_epoch is not None
    one, other = (cause.producer_id, cause.producer_epoch), (effect.producer_id, effect.producer_epoch)
    return (is_known and one == other) or _touch(cause, effect.since, effect.until)


def made_it_abort(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """What a client met before it aborted; not what it met after somebody else had ended its transaction."""
    return not effect.facts.get("is_unsent") and same_id_and_time(model, cause, effect)


def gave_the_reason(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """The error that a client aborted after (`why`), as the cause's own lines show it."""
    reason = effect.facts.get("reason")
    why = effect.facts.get("why") or (reason.get("exception") if isinstance(reason, dict) else None)
    is_shown = why is not None and any(bare(str(why)) in place.text for place in cause.places())
    return is_shown and made_it_abort(model, cause, effect)


def refused_its_records(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """Records that were above a limit: a transaction can't be committed without them."""
    return cause.facts.get("limiter") is not None and same_id_and_time(model, cause, effect)


def ended_by_others(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """An end of the same producer's transaction that it did not ask for, before what it met."""
    is_before = cause.until is not None and effect.since is not None and cause.until <= effect.since
    return bool(cause.facts.get("is_unsent")) and is_before and same_id_and_time(model, cause, effect)


def same_time(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A broker that was away while at least half of it happened: as leader, or as a replica that had to confirm."""
    touched, of = shared(model, cause, effect)
    return 2 * len(touched) >= of and bool(touched)


def shared(model: CaptureModel, cause: Finding, effect: Finding) -> tuple[frozenset[int], int]:
    """Which of the things that a finding is about lie in the time of a cause, by number, and of how many."""
    stretches = _stretches(model, effect)
    touched = (number for number, stretch in enumerate(stretches) if _touch(cause, *stretch))
    return frozenset(touched), len(stretches)


def lost_the_tail(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A broker that stopped hard soon after: the end of a log that its disk did not have yet is gone.

    Where logs name another leader of the partition then, that one's log is the one that counts.
    """
    if cause.facts.get("own_log") != OwnLog.HARD_STOP.name or cause.since is None or effect.until is None:
        return False
    if not -CLIENT_TOLERANCE_MS <= cause.since - effect.until <= ON_DISK_MS or effect.topic is None:
        return False
    leader = _leader(model, effect.topic, effect.partition, cause.since) if effect.partition is not None else None
    return not cause.nodes or leader is None or leader in cause.nodes


def took_the_leader(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A broker that was away when the coordinator knew no leader of a partition, unless logs name another one."""
    left_out_at = effect.facts.get("left_out_at")
    if left_out_at is None or not _touch(cause, at := parse_time(left_out_at), at):
        return False
    is_one = effect.topic is not None and effect.partition is not None
    leader = _leader(model, str(effect.topic), int(effect.partition or 0), at) if is_one else None
    return not cause.nodes or leader is None or leader in cause.nodes


def leads_a_partition(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A broker that was away when a decision waited for its partitions, unless logs name another leader of them."""
    if not same_time(model, cause, effect) or effect.topic is None or effect.partition is None or cause.since is None:
        return same_time(model, cause, effect)
    leader = _leader(model, effect.topic, effect.partition, cause.since)
    return not cause.nodes or leader is None or leader in cause.nodes


def coordinator_of(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A coordinator that was away at that time: of the id's own partition where both are known."""
    if not _touch(cause, effect.since, effect.until):
        return False
    count, name = model.state_partition_count, effect.transactional_id
    about = _state_partitions(cause)
    return not about or name is None or count is None or partition_for(name, count) in about


def _state_partitions(cause: Finding) -> set[int]:
    """Partitions of `__transaction_state` that a finding is about, as far as it names them."""
    if cause.topic != TRANSACTION_STATE:
        return set()
    told = cause.facts.get("partitions")
    several = told.get("partitions", ()) if isinstance(told, dict) else ()
    return {cause.partition, *several} - {None}


def kept_waiting(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A broker that was away while a call waited for its answer."""
    return same_time(model, cause, effect) and _covers_the_wait(cause, effect)


def same_failure(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A failure that both are about: its line tells one what befell the client, the other what its call came to."""
    one, other = ({(place.source, place.line) for place in found.places() if place.line is not None}
                  for found in (cause, effect))  # fmt: skip
    return same_id(model, cause, effect) and bool(one & other)


def coordinator_kept_waiting(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A coordinator that was away while a call waited for its answer."""
    return coordinator_of(model, cause, effect) and _covers_the_wait(cause, effect)


def overdue(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """An open transaction that nobody timed out since its coordinator was away."""
    return effect.severity > 0 and coordinator_of(model, cause, effect)


def by_settings(*names: str) -> Condition:
    """A setting that has to do with it, of the same id or of all."""

    def condition(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
        about = {remedy.config for remedy in cause.remedies}
        is_about = any(config is not None and name in config for config in about for name in names)
        return is_about and (cause.transactional_id is None or same_id(model, cause, effect))

    return condition


def without_an_id(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """A program that was not set up for transactions: one text tells it, and of what it then did without one."""
    is_setting = any(remedy.config == TRANSACTIONAL_ID for remedy in cause.remedies)
    if not is_setting or cause.transactional_id is not None or effect.transactional_id is not None:
        return False
    here = {place.source for place in cause.places()} - {None}
    return bool(here & {place.source for place in effect.places()})


def _ids(finding: Finding) -> set[str | None]:
    return {finding.transactional_id, *(subject.transactional_id for subject in finding.subjects)}


def _touch(cause: Finding, since: int | None, until: int | None) -> bool:
    """Whether a cause shares time with a stretch; an unknown end is no obstacle."""
    if cause.since is None or cause.until is None or since is until is None:
        return False
    times = [time for time in (since, until) if time is not None]
    return cause.since <= max(times) + CLIENT_TOLERANCE_MS and min(times) <= cause.until + CLIENT_TOLERANCE_MS


def _covers_the_wait(cause: Finding, effect: Finding) -> bool:
    """Whether a wait of known length lies in a cause for the most part, or the cause in the wait.

    What began when the call had nearly given up, or after it, is not what it waited for.
    """
    if cause.since is None or cause.until is None or effect.since is None or effect.until is None:
        return True
    return effect.since == effect.until or share_most((cause.since, cause.until), (effect.since, effect.until))


def _stretches(model: CaptureModel, effect: Finding) -> list[tuple[int | None, int | None]]:
    """The times of each thing that a finding is about: of timed-out transactions their own, else its whole span."""
    if effect.rule == "transaction_timed_out":
        rows = model.transactions_of(model.id_code(effect.transactional_id))
        rows = rows[model.ends.ended_by[rows] == EndedBy.timeout]
        t = model.transactions[rows]
        t = t[t["started_at"] >= 0]
        if len(t):
            return list(zip(t["started_at"].tolist(), t["decided_at"].tolist(), strict=True))
    return [(effect.since, effect.until)]


def _leader(model: CaptureModel, topic: str, partition: int, at: int) -> int | None:
    """Who led a partition at a time, as logs of brokers tell; None where they don't."""
    logs = model.logs
    rows = logs.of_kind(EventKind.leader_changed)
    of_topic = [row for row in rows.tolist() if logs.string(row, "topic") == topic and 0 <= logs.times[row] <= at]
    nodes = [logs.number(row, "node") for row in of_topic if logs.events["partition"][row] == partition]
    return nodes[-1] if nodes else None
