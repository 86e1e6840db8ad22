"""A new instance with the same transactional.id ended the open transaction of the one before.

Mechanism    initTransactions of a second producer finds a transaction of the same transactional.id open: the
             coordinator aborts it under the next epoch, answers CONCURRENT_TRANSACTIONS, and gives the newcomer the
             epoch after that on its retry. What the old instance sends from then on is refused
             (ProducerFencedException, InvalidProducerEpochException).
Evidence     Ongoing e, PrepareAbort e+1 before the transaction's own timeout had passed, CompleteAbort e+1, Empty e+2
             moments later. By logs alone: two instances that were given the same producer id, the later one inside the
             earlier one's transaction timeout, and the earlier one refused after that; epochs that rise by two from one
             "Initialized transactionalId" to the next (classic), without a rollback line in between.
Against      an abort at the data's own epoch (classic: the client itself); a duration beyond the timeout; no Empty row.
Look-alikes  transaction_timed_out followed by a prompt restart (told apart by the duration); aborted_by_client
             (classic: epoch unchanged; transactions v2: no Empty row at once); a client's own bump of its epoch
             (KIP-360: epoch unchanged by the abort); on disk a crashed and restarted application looks like two living
             instances; fenceProducers and forceTerminateTransaction of an operator run InitProducerId too (the row's
             timeout then differs from the id's usual one). A client's own words (ProducerFencedException, librdkafka's
             "fenced by newer producer instance") are the same after a timeout.
Remedy       one living producer for each transactional.id: derive the id from something stable and unique (input
             partition, ordinal of the pod), stop the old instance before the new one starts. Never a random id: it
             takes the fencing away.
Source       KIP-98, KIP-360, KIP-588, KIP-890; TransactionCoordinator.handleInitProducerId, prepareFenceProducerEpoch
             (0.11 to 4.4).
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.conditions import same_id
from kafkatx.findings.end_groups import EndGroup, groups
from kafkatx.findings.ends import (
    ABORTED,
    COMMITTED_FIRST,
    COMMITTED_SAID,
    COORDINATOR_TELLS,
    LOOK_FIRST,
    NOT_RESENT,
    T1,
    WITHIN_TIMEOUT,
    WITNESSED,
    WROTE,
    RowEnd,
    row_end,
)
from kafkatx.findings.ends_in_data import (
    EPOCH_LEFT_OUT,
    ONLY_TIMES,
    OWN_KEEPS_EPOCH,
    PERHAPS_OWN,
    UNDER_NEXT_EPOCH,
    DataFacts,
    data_facts,
)
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.shared_prefixes import same_prefix
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.kernels.transactions import EMPTY
from kafkatx.rules.fencing.in_logs import LOG_WORDS, FencedInLogs, severity_in_logs, told_in_logs
from kafkatx.rules.fencing.refusals import TIME_WORDS, TOLD_WORDS, fenced_by_refusals
from kafkatx.rules.fencing.restarts import FOLLOWED, NO_SECOND, NOT_OWN, Restart, restart_of
from kafkatx.rules.fencing.shared_words import OPERATOR, REMEDIES, TAKEN_OVER, TITLE
from kafkatx.terms.clocks import RETRY_WINDOW_MS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, actor, left_open, ruled_out, step
from kafkatx.words.facts import instant, lasting
from kafkatx.words.template import pick
from kafkatx.words.values import Duration, Instant, Producer, facts

REPEATED, REPEATED_WITHIN_MS = 5, 60_000
"""Take-overs of one id at this rate are two owners or a crash loop, not deployments."""


@facts
class Facts(RowEnd):
    """Open transactions that records tell of; the first is explained.

    `new` is None where its start is not recorded; `restart` is that of the process which followed on the old one.
    """

    new: Producer | None
    new_at: Instant | None
    new_timeout: Duration | None
    waited: Duration | None
    restart: Restart | None

    @property
    def is_v2_guess(self) -> bool:
        """Whether the protocol leaves a client's own abort possible, and no log denies it."""
        return self.reason is Reason.v2_then_init and self.restart is None

    @property
    def is_late(self) -> bool:
        """Whether the newcomer's record came later than a retry would."""
        return self.waited is not None and self.waited > RETRY_WINDOW_MS

    @property
    def is_over_timeout(self) -> bool:
        """Whether it ran longer than its timeout, and only a missing line speaks against one."""
        return self.reason is Reason.init_without_rollback

    @property
    def is_another_program(self) -> bool:
        """Whether the newcomer brought another timeout."""
        return self.new_timeout is not None and self.new_timeout != self.timeout


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id of which open transactions were taken over."""
    yield from fenced_by_refusals(model)
    for group in groups(model, EndedBy.new_instance):
        facts: Facts | DataFacts | FencedInLogs
        if group.told_by is ToldBy.rows:
            facts = _of_rows(group)
            severity = _severity(group, facts)
        elif group.told_by is ToldBy.data:
            facts = data_facts(group)
            severity = _severity_in_data(group, facts)
        else:
            facts = told_in_logs(group)
            severity = severity_in_logs(group, facts)
        is_restart = isinstance(facts, Facts) and facts.restart is not None
        verdict = Verdict.proved if is_restart else group.verdict
        yield Case(facts=facts, verdict=verdict, severity=severity, **group.columns())


def _severity(group: EndGroup, facts: Facts) -> Severity:
    """An error where logs show the old instance alive, unless its framework hands ids on by design.

    A deployment leaves such ends as well; who shows rows in a text asks for one that cost its records.
    """
    alive = (group.model.ends.witnesses.refusal[group.numbers] >= 0).any()
    if alive and not facts.is_handed_on:
        return Severity.error
    return Severity.warning if _is_loop(group) or (group.is_printed and not facts.is_handed_on) else Severity.info


def _severity_in_data(group: EndGroup, facts: DataFacts) -> Severity:
    """The same where only data tell of it."""
    if facts.was_alive and not facts.is_handed_on:
        return Severity.error
    is_asked_for = group.is_printed and not facts.is_handed_on and group.verdict is not Verdict.possible
    return Severity.warning if is_asked_for else Severity.info


def _is_loop(group: EndGroup) -> bool:
    """Whether half of the take-overs came within a minute of the one before."""
    pauses = np.sort(np.diff(group.model.transactions["decided_at"][group.numbers]))
    return len(group.numbers) >= REPEATED and int(pauses[len(group.numbers) // 2 - 1]) <= REPEATED_WITHIN_MS


def _of_rows(group: EndGroup) -> Facts:
    row = group.first.row
    came = bool(row["next_state"] == EMPTY)
    return Facts(
        **row_end(group),
        new=Producer(int(row["next_producer_id"]), int(row["next_epoch"])) if came else None,
        new_at=instant(row["next_timestamp"]) if came else None,
        new_timeout=lasting(row["next_timeout_ms"]) if came else None,
        waited=Duration(max(0, row["next_timestamp"] - row["completion_timestamp"])) if came else None,
        restart=restart_of(group),
    )


WORDS = Words(
    Facts,
    title=pick("restart", {None: TITLE}, "open transaction aborted by its restarted process"),
    summary=(TAKEN_OVER, COMMITTED_SAID, "[ It is the process that was started again at {restart.at}.]"),
    actors=(
        T1,
        actor("T2", "{new}, since {new_at}"),
        actor("T2", "whoever called initTransactions; its own start is not recorded", unless="new"),
    ),
    steps=(
        WROTE,
        step(
            "T2 called initTransactions with the same transactional.id[ {took} after T1's start]; the coordinator "
            "aborted T1's transaction",
            (
                pick(
                    "is_classic",
                    {True: "only InitProducerId raises the epoch", False: "InitProducerId followed at once"},
                ),
                " before the timeout of {timeout}[; the epoch rose from {producer.epoch} to {decision_epoch}]",
            ),
            cites="decided completed",
        ),
        ABORTED,
        COMMITTED_FIRST,
        step(
            "{waited} later T2 got the id with epoch {new.epoch}: T1 is fenced",
            pick(
                "is_late",
                {True: "state Empty, which InitProducerId writes; its retry came late"},
                "state Empty, which the retry of InitProducerId writes",
            ),
            cites="next",
        ),
        WITNESSED,
        FOLLOWED,
    ),
    considered=(
        ruled_out("transaction_timed_out", WITHIN_TIMEOUT, cites="decided", unless="is_over_timeout"),
        left_open(
            "transaction_timed_out",
            "it had been open for {took}, its timeout is {timeout}; but the coordinator's log has no line of a timeout",
            decided_by=COORDINATOR_TELLS,
            cites="decided",
            needs="is_over_timeout",
        ),
        ruled_out(
            "aborted_by_client",
            pick(
                "is_classic",
                {True: "a client's own abort keeps the epoch (classic protocol)"},
                "after its own abort T1 would go on under epoch {decision_epoch} (transactions v2); T2 got {new.epoch} "
                "at once",
            ),
            cites="decided",
            unless="is_v2_guess restart",
        ),
        NOT_OWN,
        NO_SECOND,
        left_open(
            "aborted_by_client",
            "its own abort raises the epoch too (transactions v2); the InitProducerId at once speaks against it",
            decided_by="the client's log around {at}",
            cites="decided",
            needs="is_v2_guess",
        ),
        left_open(
            "the client itself",
            "a new epoch that it asks for after an error (KIP-360) ends its transaction in the same way",
            decided_by="the client's log[ around {at}]",
            cites="decided",
            needs="perhaps",
            unless="is_v2_guess is_over_timeout",
        ),
        left_open(
            OPERATOR,
            "InitProducerId came with a timeout of {new_timeout}, the id's is {timeout}: another program, as "
            "kafka-transactions.sh forceTerminateTransaction or Admin.fenceProducers",
            decided_by="the log of who called it at {new_at}",
            cites="next",
            needs="is_another_program",
        ),
        ruled_out("a restart after a crash", "the old instance was alive and was refused", needs="was_alive"),
        left_open(
            "whether the old instance still lived",
            "after a crash the coordinator writes the same records",
            decided_by="the log of the old instance: it was refused after {at} if it lived",
            unless="was_alive restart",
        ),
    ),
    remedies=(*REMEDIES[:4], LOOK_FIRST, NOT_RESENT, *REMEDIES[4:]),
)

DATA_WORDS = Words(
    DataFacts,
    who="{whom}",
    title=TITLE,
    summary=TAKEN_OVER,
    actors=(T1,),
    steps=UNDER_NEXT_EPOCH,
    considered=(
        left_open("transaction_timed_out", ONLY_TIMES, decided_by=COORDINATOR_TELLS, needs="perhaps"),
        ruled_out("transaction_timed_out", "two instances' logs tell of the takeover", unless="perhaps"),
        OWN_KEEPS_EPOCH,
        PERHAPS_OWN,
        EPOCH_LEFT_OUT,
    ),
    remedies=REMEDIES,
)

RULE = Rule(
    find=find,
    words=(WORDS, DATA_WORDS, LOG_WORDS, TIME_WORDS, TOLD_WORDS),
    depth=3,
    caused_by=(("shared_producer", same_id), ("shared_producer", same_prefix)),
    absorbed_by="shared_producer",
)
