"""Who ended each transaction: decided once, for all rules.

Grain: the transactions of a transactional.id (a producer id is enough); vectorised over all at once.
The order of the questions, and why: the epoch table of KIP-98, KIP-360, KIP-588 and KIP-890. Classic: the client's
own end keeps the epoch, the coordinator's raises it by one (except 0.11.0.0 and 0.11.0.1, KAFKA-6119). Transactions v2:
every end raises it, so the duration against the row's own timeout and what follows decide; a client that gave up and
aborted by itself before the coordinator looked leaves what a timeout leaves, and needs no start before it goes on: a
timeout is proved there where a later start shows that the producer was over.
4.0.0 alone raises it by two when the coordinator aborts. Two coordinators' clocks prove no duration. Logs are heard
last (`testified`): a line of the coordinator outweighs every reckoning, a client's line counts where no refusal follows
it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from enum import IntEnum
from typing import Any

import numpy as np

from kafkatx.histories.logs.corroboration import Corroboration
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import EMPTY, NOTHING, ONGOING, PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.terms.clocks import (
    BROKERS_TOLERANCE_MS,
    CLEANUP_INTERVAL_MS,
    GIVEN_UP_MS,
    OLD_CLEANUP_INTERVAL_MS,
    PROMPT_RETRY_MS,
    RETRY_WINDOW_MS,
    TIMEOUT_SLACK_MS,
    TRANSACTIONS_V2_SINCE_MS,
)
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict


class EndedBy(IntEnum):
    """Who ended a transaction."""

    open = 0
    client = 1
    timeout = 2
    new_instance = 3
    unknown = 4


class Protocol(IntEnum):
    """How a transaction was run."""

    unknown = 0
    classic = 1
    v2 = 2


class Reason(IntEnum):
    """Which observation decided."""

    none = 0
    commit = 1
    own_epoch = 2
    own_epoch_late = 3
    over_timeout = 4
    over_timeout_then_init = 5
    over_timeout_late = 6
    raised_then_init = 7
    raised_before_timeout = 8
    v2_then_init = 9
    v2_within_timeout = 10
    v2_client_went_on = 11
    no_bump_release = 12
    rows_missing = 13
    v2_rows_end = 14
    over_timeout_went_on = 15
    near_timeout = 16
    rollback_line = 17
    init_line = 18
    two_instances = 19
    init_without_rollback = 20
    abort_line = 21
    no_rollback_line = 22
    end_request = 23
    own_bump_line = 24
    state_refused = 25
    init_request = 26
    over_timeout_v2 = 27
    over_timeout_two_clocks = 28


BY_LOGS = frozenset(range(Reason.rollback_line, Reason.init_request + 1))
"""Reasons that lines of logs gave."""


@dataclass(frozen=True, slots=True)
class Endings:
    """Arrays parallel to the table of transactions.

    EndedBy, Verdict, Reason, Protocol, duration in ms (-1 unknown), epoch of the data (-1 unknown).
    """

    ended_by: Any
    verdict: Any
    reason: Any
    protocol: Any
    duration_ms: Any
    data_epoch: Any

    def part(self, rows: slice) -> Endings:
        """The endings of some rows: views, to be read and written."""
        return Endings(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Clocks:
    """Whose clocks times of rows are: `one` where all were written by one broker, else `apart_ms` apart at least."""

    one: bool
    apart_ms: int

    def tolerance(self, t: Array) -> Any:
        """What the times of start and decision may be wrong by against each other: 0 under one leadership."""
        same = (t["begin_leader_epoch"] == t["decision_leader_epoch"]) | self.one
        if self.apart_ms <= BROKERS_TOLERANCE_MS:
            same |= t["begin_leader_epoch"] < 0
        return np.where(same, 0, max(BROKERS_TOLERANCE_MS, self.apart_ms))


AT_ONCE = 1 << 16
"""Transactions whose endings are decided together: what that takes does not grow with their number."""


def endings(
    transactions: Array, data_epoch: Array, release_raises_epoch: bool, one_clock: bool = False, apart_ms: int = 0
) -> Endings:
    """Decide every ending.

    `data_epoch` is the epoch of a transaction's data as the partitions show it (-1 where none is at hand);
    `release_raises_epoch` says that 0.11.0.0 and 0.11.0.1 are excluded; `one_clock` that all rows were written by one
    broker; `apart_ms` is what clocks of this cluster are known to differ by at least.
    """
    clocks = Clocks(one_clock, apart_ms)
    t = transactions
    epoch = np.where(t["producer_epoch"] >= 0, t["producer_epoch"], data_epoch).astype(np.int32)
    decision_epoch = np.where(t["decision_epoch"] >= 0, t["decision_epoch"], t["completion_epoch"])
    protocol = _protocols(t, epoch, decision_epoch)
    goes_on, count = _goes_on(t), len(t)
    ended_by, verdict, reason = np.zeros((3, count), np.int8)
    found = Endings(ended_by, verdict, reason, protocol, np.zeros(count, np.int64), epoch)
    for first in range(0, count, AT_ONCE):
        here = slice(first, first + AT_ONCE)
        _decide(t[here], decision_epoch[here], goes_on[here], found.part(here), release_raises_epoch, clocks)
    return found


def _protocols(t: Array, epoch: Any, decision_epoch: Any) -> Any:
    """Protocol of every transaction, by the versions that its rows print, else by what its epochs do."""
    seen = (t["begin_version"] >= 0) | (t["begin_offset"] >= 0)
    protocol = np.full(len(t), Protocol.unknown, np.int8)
    protocol[seen] = Protocol.classic
    protocol[t["begin_version"] == 2] = Protocol.v2
    protocol[~seen & (t["decision_version"] < 0) & (t["decision_offset"] >= 0)] = Protocol.classic
    protocol[~seen & (t["decision_version"] == 2) & (t["begin_offset"] < 0)] = Protocol.v2
    return _by_commits(t, epoch, decision_epoch, protocol).astype(np.int8)


def _decide(
    t: Array, decision_epoch: Any, goes_on: Any, found: Endings, release_raises_epoch: bool, clocks: Clocks
) -> None:
    """Write the endings of some transactions, given what is known of them: protocol and epoch of the data."""
    known = (t["decided_at"] >= 0) & (t["started_at"] >= 0)
    found.duration_ms[:] = np.where(known, t["decided_at"] - t["started_at"], -1)
    tolerance, is_last = clocks.tolerance(t), (t["next_state"] == NOTHING) & ~goes_on
    shown = _shown(t, found.data_epoch, decision_epoch, found.protocol, found.duration_ms, tolerance)
    ended_by, verdict, reason = _of_aborts(shown, is_last, tolerance > 0, release_raises_epoch)
    aborted, committed = t["decision"] == PREPARE_ABORT, t["decision"] == PREPARE_COMMIT
    found.ended_by[:] = np.where(aborted, ended_by, np.where(committed, EndedBy.client, EndedBy.open))
    found.verdict[:] = np.where(aborted, verdict, Verdict.proved)
    found.reason[:] = np.where(aborted, reason, np.where(committed, Reason.commit, Reason.none))


def _by_commits(t: Array, epoch: Any, decision_epoch: Any, protocol: Any) -> Any:
    """Tell the protocol of rows that print no version (the tool of 4.0): only transactions v2 commit one epoch up.

    An abort one epoch up is read as its id's commit before it, else as the one after it; where its id has none and
    others are of transactions v2, its protocol is not known.
    """
    unstated = (t["begin_version"] < 0) & (t["decision_version"] < 0) & (epoch >= 0) & (decision_epoch > epoch)
    commits = t["decision"] == PREPARE_COMMIT
    if not (unstated & commits).any():
        return protocol
    protocol = np.where(unstated & commits, Protocol.v2, protocol)
    order = np.lexsort((t["decision_offset"], t["id_code"]))
    places, code, is_commit = np.arange(len(t)), t["id_code"][order], commits[order]
    before = np.maximum.accumulate(np.where(is_commit, places, -1))
    after = np.minimum.accumulate(np.where(is_commit, places, len(t))[::-1])[::-1].clip(max=len(t) - 1)
    near = np.where((before >= 0) & (code[before] == code), before, after)
    known = is_commit[near] & (code[near] == code)
    told = np.empty(len(t), np.int64)
    told[order] = np.where(known, protocol[order][near], Protocol.unknown)
    return np.where(unstated & ~commits, told, protocol)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What rows show of transactions, a truth for each; times are held against transaction.timeout.ms of their rows.

    `is_known`: both epochs are; `raised`: the end took an epoch more, as coordinators do; `over` and `within`: open for
    longer than the timeout, or not as long, whatever clocks differ by; `near`: neither; `soon`: not longer than a
    client takes that gives up by itself; `unlooked`: the coordinator need not have looked yet; `late`: it must have, at
    any release. Then, by the row behind: `follows` a start with the next epoch, `init` and `prompt` so soon that it is
    the one that caused the end; `went_on` the same epoch, `went_on_at_once` before a coordinator would have looked.
    `may_be_v2`: no row tells the protocol, and transactions v2 were there.
    """

    classic: Any
    v2: Any
    is_known: Any
    raised: Any
    over: Any
    within: Any
    near: Any
    soon: Any
    unlooked: Any
    late: Any
    follows: Any
    init: Any
    prompt: Any
    went_on: Any
    went_on_at_once: Any
    may_be_v2: Any


def _shown(t: Array, epoch: Any, decision_epoch: Any, protocol: Any, duration: Any, tolerance: Any) -> _Shown:
    """Look at the rows; `duration` and `tolerance` in milliseconds, -1 where the start is not known."""
    v2, classic = protocol == Protocol.v2, protocol == Protocol.classic
    is_known, timeout = (epoch >= 0) & (decision_epoch >= 0), t["timeout_ms"].astype(np.int64)
    step = np.where(is_known, decision_epoch - epoch, -1)
    raised = (classic & ((step > 0) | (t["decision_version"] == 2))) | (v2 & (step == 2))
    has_start = duration >= 0
    at_least = np.where(t["begin_timestamp"] >= 0, t["decided_at"] - t["begin_timestamp"], -1)
    unstarted = ~has_start & (t["decided_at"] >= 0) & (at_least > timeout + tolerance)
    over = ((duration > timeout + tolerance) & has_start | unstarted) & (timeout >= 0)
    within = has_start & (duration <= timeout - tolerance)
    gap = t["next_timestamp"] - t["completion_timestamp"]
    same_id = t["next_producer_id"] == t["completed_producer_id"]
    one_up = (t["next_epoch"] == t["completion_epoch"] + 1) | ~same_id
    follows = (t["next_state"] == EMPTY) & (t["completion_timestamp"] >= 0) & one_up
    went_on = (t["next_state"] == ONGOING) & (t["next_epoch"] == t["completion_epoch"]) & same_id
    init, is_prompt = follows & (gap <= RETRY_WINDOW_MS), gap <= PROMPT_RETRY_MS
    unstated = (t["begin_version"] < 0) & (t["decision_version"] < 0)
    return _Shown(
        classic=classic,
        v2=v2,
        is_known=is_known,
        raised=raised,
        over=over,
        within=within,
        near=raised & has_start & (timeout >= 0) & ~over & ~within & ~init,
        soon=has_start & (duration <= timeout + GIVEN_UP_MS),
        unlooked=has_start & (duration <= timeout + CLEANUP_INTERVAL_MS + TIMEOUT_SLACK_MS),
        late=(duration > timeout + OLD_CLEANUP_INTERVAL_MS + TIMEOUT_SLACK_MS) | unstarted,
        follows=follows,
        init=init,
        prompt=follows & is_prompt,
        went_on=went_on,
        went_on_at_once=went_on & is_prompt & (duration <= timeout + CLEANUP_INTERVAL_MS),
        may_be_v2=unstated & (t["decided_at"] >= TRANSACTIONS_V2_SINCE_MS),
    )


def _of_aborts(shown: _Shown, is_last: Any, two_clocks: Any, release_raises_epoch: bool) -> tuple[Any, Any, Any]:
    """EndedBy, Verdict and Reason as if every transaction had been aborted; the first answer that holds stands.

    `is_last`: nothing more is known of the id, `two_clocks`: start and end are of coordinators whose clocks may differ.
    """
    s, by, sure, why = shown, EndedBy, Verdict, Reason
    own, ended = s.classic & ~s.raised & s.is_known, s.raised | s.v2
    unraised = s.v2 & ~s.raised & s.over
    answers = [
        (own & s.within, by.client, sure.proved, why.own_epoch),
        (own & s.over & release_raises_epoch, by.client, sure.proved, why.own_epoch_late),
        (own & s.over, by.unknown, sure.possible, why.no_bump_release),
        (own, by.client, sure.likely, why.own_epoch),
        (unraised & s.went_on_at_once, by.client, sure.likely, why.v2_client_went_on),
        (s.v2 & s.over & s.went_on & s.soon, by.timeout, sure.possible, why.over_timeout_went_on),
        (s.v2 & s.over & s.went_on, by.timeout, sure.likely, why.over_timeout_went_on),
        (ended & s.over & s.prompt & s.unlooked, by.timeout, sure.possible, why.over_timeout_then_init),
        (ended & s.over & s.prompt, by.timeout, sure.likely, why.over_timeout_then_init),
        (ended & s.over & s.late, by.timeout, sure.likely, why.over_timeout_late),
        (s.raised & s.over & s.may_be_v2, by.timeout, sure.likely, why.over_timeout),
        (unraised & ~s.follows & s.soon, by.timeout, sure.possible, why.over_timeout_v2),
        (unraised & ~s.follows, by.timeout, sure.likely, why.over_timeout_v2),
        (s.raised & s.over & two_clocks, by.timeout, sure.likely, why.over_timeout_two_clocks),
        (ended & s.over, by.timeout, sure.proved, why.over_timeout),
        (s.near, by.timeout, sure.likely, why.near_timeout),
        (s.raised & s.within & s.init, by.new_instance, sure.likely, why.raised_then_init),
        (s.raised & s.within, by.new_instance, sure.likely, why.raised_before_timeout),
        (s.v2 & s.within & s.prompt, by.new_instance, sure.likely, why.v2_then_init),
        (s.v2 & s.within & s.went_on, by.client, sure.likely, why.v2_client_went_on),
        (s.v2 & s.within & is_last, by.client, sure.possible, why.v2_rows_end),
        (s.v2 & s.within, by.client, sure.likely, why.v2_within_timeout),
    ]
    conditions = [answer[0] for answer in answers]
    return (
        np.select(conditions, [int(answer[1]) for answer in answers], int(EndedBy.unknown)),
        np.select(conditions, [int(answer[2]) for answer in answers], int(Verdict.possible)),
        np.select(conditions, [int(answer[3]) for answer in answers], int(Reason.rows_missing)),
    )


def testified(ended: Endings, seen: Corroboration, is_abort: Any) -> Endings:
    """Let the logs speak: what they show outweighs what rows allow, and the first answer that holds stands.

    Only the coordinator's own line, a request that was answered, two living instances, or an abort of the client that
    nothing refused and after which it went on, prove anything that rows left open. A coordinator's log without a
    rollback proves no other author, since the line may be lost; but no timeout is more than possible beside it.
    """
    base, why = ended.ended_by, ended.reason
    raised = np.isin(why, (Reason.raised_then_init, Reason.raised_before_timeout))
    timed_out, v2 = base == EndedBy.timeout, ended.protocol == Protocol.v2
    open_question = np.isin(why, (Reason.no_bump_release, Reason.rows_missing))
    own_abort = (seen.client_abort >= 0) & ~raised
    came, both = seen.is_granted, seen.is_taken_over
    client_v2 = v2 & (base == EndedBy.client)
    late = timed_out & np.isin(why, (Reason.over_timeout_then_init, Reason.near_timeout))
    answers = [
        (seen.rollback >= 0, EndedBy.timeout, Verdict.proved, Reason.rollback_line),
        ((seen.end_request >= 0) & ~raised, EndedBy.client, Verdict.proved, Reason.end_request),
        (raised & (seen.renewed >= 0) & (seen.own_bump >= 0), EndedBy.client, Verdict.likely, Reason.own_bump_line),
        (raised & came & both, EndedBy.new_instance, Verdict.proved, Reason.two_instances),
        (raised & came, EndedBy.new_instance, Verdict.proved, Reason.init_line),
        ((raised | (why == Reason.v2_then_init)) & seen.is_init_alone,
         EndedBy.new_instance, Verdict.proved, Reason.init_request),
        (own_abort & (why == Reason.v2_then_init) & (seen.refusal < 0),
         EndedBy.client, Verdict.likely, Reason.abort_line),
        ((why == Reason.v2_then_init) & came & both, EndedBy.new_instance, Verdict.proved, Reason.two_instances),
        (own_abort & (why == Reason.v2_then_init), EndedBy.client, Verdict.likely, Reason.abort_line),
        (own_abort & (why == Reason.v2_client_went_on), EndedBy.client, Verdict.proved, Reason.abort_line),
        (own_abort & (client_v2 | open_question) & seen.goes_on, EndedBy.client, Verdict.proved, Reason.abort_line),
        (own_abort & (client_v2 | open_question), EndedBy.client, Verdict.likely, Reason.abort_line),
        (own_abort & timed_out & v2 & (seen.goes_on | seen.is_silent),
         EndedBy.client, Verdict.likely, Reason.abort_line),
        (late & came & seen.is_silent, EndedBy.new_instance, Verdict.likely, Reason.init_without_rollback),
        (timed_out & v2 & seen.is_silent & ~came, EndedBy.client, Verdict.possible, Reason.no_rollback_line),
        (timed_out & seen.is_silent, EndedBy.timeout, Verdict.possible, why),
        ((why == Reason.no_bump_release) & (seen.state_refused >= 0),
         EndedBy.timeout, Verdict.likely, Reason.state_refused),
        ((why == Reason.no_bump_release) & seen.is_silent, EndedBy.client, Verdict.likely, Reason.no_rollback_line),
        ((why == Reason.rows_missing) & came & both, EndedBy.new_instance, Verdict.likely, Reason.two_instances),
    ]  # fmt: skip
    conditions = [answer[0] & is_abort for answer in answers]
    return replace(
        ended,
        ended_by=_first(conditions, [answer[1] for answer in answers], base),
        verdict=_first(conditions, [answer[2] for answer in answers], ended.verdict),
        reason=_first(conditions, [answer[3] for answer in answers], why),
    )


def _first(conditions: list[Any], values: list[Any], base: Any) -> Any:
    """The value of the first condition that holds, of the type of `base`, which stands where none does."""
    typed = [value if isinstance(value, np.ndarray) else base.dtype.type(int(value)) for value in values]
    return np.select(conditions, typed, base)


def _goes_on(t: Array) -> Any:
    """Whether the id's partition of `__transaction_state` has rows from beyond the time in which a retry would come."""
    if not len(t):
        return np.zeros(0, bool)
    partitions, place = np.unique(t["state_partition"], return_inverse=True)
    newest = np.full(len(partitions), -1, np.int64)
    last = t["begin_timestamp"].copy()
    for name in ("decision_timestamp", "completion_timestamp", "next_timestamp"):
        np.maximum(last, t[name], out=last)
    np.maximum.at(newest, place, last)
    return (t["completion_timestamp"] >= 0) & (newest[place] > t["completion_timestamp"] + PROMPT_RETRY_MS)
