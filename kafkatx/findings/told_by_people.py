"""Refusals that no time and no record decides, and what people say beside them: timeout or new instance.

Words that weigh too little to decide make their cause possible. Where nobody says anything, the framework that owns
the producer may: Flink keeps a transaction open from one checkpoint to the next under an id that no other task makes
(its own line and documentation call a timeout the likelier cause), and Kafka Streams has a timeout of 10 s, and ids of
a process (exactly_once_v2). That is how often a cause is met, no evidence of this case: possible as well.

The sequel of findings/elapsed.py: where its time decides nothing, the words of the page do
(histories/logs/testimony.py). Refusals whose id and date are known are ends of transactions; histories/log_endings.py
asks the same words for them. An operation in an invalid state is meant too: transactions v2 answer it after a timeout.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.elapsed import decided, is_unplaced, timeout_of_refusal
from kafkatx.findings.one_failure import Alike, FailureFacts, alike, failure_case, failure_facts
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.frameworks_named import owner_in_lines
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once
from kafkatx.histories.logs.testimony import (
    Testimony,
    is_about_instances,
    only_told_timeout,
    statements_of,
    testimony,
)
from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.events import Statement
from kafkatx.words.explanation import step
from kafkatx.words.log_refs import testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Duration, Refs

FLINK, STREAMS = "Flink", "Kafka Streams"
"""Frameworks whose refused producers mostly had a transaction past its timeout: Flink's where it commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldFacts(FailureFacts):
    """A refusal, and what people say that speaks for its cause.

    `timeout` is transaction.timeout.ms where somebody says it, `took` the longest that the work is said to have taken,
    where that is above it; `is_of_state`: the client was refused for the state of its transaction, not its epoch.
    """

    told: Refs
    timeout: Duration | None
    took: Duration | None
    is_of_state: bool


def told_cases(model: CaptureModel, ended_by: EndedBy, kind: type[ToldFacts]) -> Iterator[Case]:
    """Yield the cases of one of both rules: likely or possible, never proved."""
    for found, said, verdict in _told(model):
        if said.ended_by is ended_by:
            timeout, is_said = timeout_of_refusal(model.logs, found.first, found.first.transactional_id)
            longest = max((one.lasted_ms for one in said.statements), default=-1)
            told = kind(
                **failure_facts(model, found),
                told=testimony_refs(said.path, _with_timeout(model, said)),
                timeout=Duration(timeout) if is_said else None,
                took=Duration(longest) if longest > timeout else None,
                is_of_state=_is_of_state(found.first),
            )
            yield failure_case(model, found, told, verdict, Severity.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedFacts(FailureFacts):
    """A refusal whose producer a framework owns, which names the cause that such a refusal mostly has there."""

    framework: str


def owned_by_framework(model: CaptureModel) -> Iterator[tuple[Alike, str]]:
    """Yield refusals of which neither time nor words tell anything, and the framework that owns their producer.

    Who asks for an epoch has no transaction that could time out; without exactly_once_v2, ids of Streams go with tasks;
    a job of Flink that is refused while it writes may as well have met another job of its prefix.
    Where records of transactions are at hand they tell, and how often a cause is met is nothing beside them; nor is it
    beside words about instances.
    """
    logs = model.logs
    if len(model.transactions):
        return
    said = {row for found, _, _ in _told(model) for row in found.rows}
    by_time = {row for one in decided(model) for row in one.found.rows}
    for found in alike(model, lambda told: is_unplaced(logs, told)):
        first = found.first
        path, owner = logs.path(first.rows[0]), owner_in_lines(logs, first.rows)
        is_open = said.isdisjoint(found.rows) and by_time.isdisjoint(found.rows) and first.call != "initTransactions"
        is_other = first.call == "send" if owner == FLINK else owner != STREAMS or _is_of_task(logs, first)
        if owner is None or is_other or not is_open:
            continue
        if not is_about_instances(statements_of(logs, path)):
            yield found, owner


def _with_timeout(model: CaptureModel, said: Testimony) -> list[Statement]:
    """What speaks for a cause; of a timeout also the words that say how long it is, unless they are the same line."""
    found, lines = list(said.statements), {one.line for one in said.statements}
    of_timeout = only_told_timeout(model.logs, said.path)
    if said.ended_by is EndedBy.timeout and of_timeout is not None and of_timeout[1].line not in lines:
        found.append(of_timeout[1])
    return found


@once
def _told(model: CaptureModel) -> list[tuple[Alike, Testimony, Verdict]]:
    logs = model.logs
    by_time = {row for one in decided(model) for row in one.found.rows}
    found: list[tuple[Alike, Testimony, Verdict]] = []
    for one in alike(model, lambda told: is_unplaced(logs, told) or _is_of_state(told)):
        if by_time.isdisjoint(one.rows):
            timeout, _ = timeout_of_refusal(logs, one.first, one.first.transactional_id)
            said = testimony(logs, one.first.rows[0], timeout)
            if said is not None and _fits(one.first, said):
                found.append((one, said, Verdict.likely if said.is_enough else Verdict.possible))
    return found


def _is_of_task(logs: LogModel, told: ToldFailure) -> bool:
    """Whether Kafka Streams names an id, or a task behind its thread: without exactly_once_v2 ids go with tasks."""
    return told.transactional_id is not None or any(" task [" in logs.words(row) for row in told.rows)


def _is_of_state(told: ToldFailure) -> bool:
    """Whether a client was told that its transaction is in no state for the call."""
    known = told.known.name if told.known is not None else told.error
    return not told.is_brokers and error_code(known) is ErrorCode.INVALID_TXN_STATE


def _fits(told: ToldFailure, said: Testimony) -> bool:
    """Whether a refusal can have that cause: who asks for an epoch has no transaction that could time out."""
    if _is_of_state(told):
        return said.ended_by is EndedBy.timeout and said.is_enough
    return said.ended_by is not EndedBy.timeout or told.call != "initTransactions"


TOLD_STEPS = (
    step(
        pick(
            "is_of_state",
            {True: "The client was refused, {count:time}: its transaction was not open any more"},
            "The client was refused, {count:time}: its epoch was stale",
        ),
        cites="lines",
    ),
    step("What is said beside these lines speaks for that", cites="told"),
)
