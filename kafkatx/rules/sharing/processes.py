"""Processes whose lines stand side by side in one text, and that take one transactional.id from each other.

Such texts (kubectl --prefix, stern, a process manager, a merge of logs) rarely show producer ids: that initTransactions
returned for one process and that another one was refused is what they have. A process that was refused and comes back
to throw the other one out is no deployment; one that is refused twice within half of the timeout was not timed out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from itertools import groupby, pairwise

from kafkatx.findings.client_lines import times_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.sharing.owners import ONE_OWNER, TURNS, WINDOW_MS, refusals
from kafkatx.terms.clocks import TRANSACTION_TIMEOUT_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Refs, facts

GRANTS = (EventKind.producer_id_set, EventKind.init_returned)
TOO_SOON_MS = TRANSACTION_TIMEOUT_MS // 2
"""A process that is refused again within this time began no transaction that could have timed out."""


@facts
class ProcessFacts:
    """Processes that were refused in turns: `refused` times, within `lasted`."""

    id: str | None
    processes: Count
    refused: Count
    lasted: Duration | None
    grants: Refs
    refusals: Refs


@dataclass(frozen=True, slots=True)
class _Step:
    """A process (a source) got the id, or was refused."""

    row: int
    process: int
    is_grant: bool


def in_processes(model: CaptureModel) -> Iterator[Case]:
    """One case for each id that processes of one file took from each other, as their lines show."""
    for name, steps in _by_id(model):
        turns = _turns(steps)
        if len(turns) >= TURNS and _comes_back(model.logs, steps) and _is_dense(model.logs, turns):
            yield _case(model, name, steps, turns)


def _by_id(model: CaptureModel) -> Iterator[tuple[str | None, list[_Step]]]:
    """Grants and refusals of each id in their order; those that name none where no more than one id is named."""
    logs = model.logs
    rows = [(row, True) for row in logs.of_kind(*GRANTS).tolist()]
    rows += [(row, False) for row in refusals(model)]
    paths = {logs.path(row) for row, _ in rows}
    if len(paths) != 1 or len({int(logs.events["source"][row]) for row, _ in rows}) < TURNS:
        return
    steps = [_Step(row, int(logs.events["source"][row]), is_grant) for row, is_grant in rows]
    steps.sort(key=cmp_to_key(lambda one, other: -1 if logs.is_before(one.row, other.row) else 1))
    names = sorted(logs.named_by(one.row for one in steps))
    if len(names) <= 1:
        yield next(iter(names), None), steps
    else:
        yield from ((name, [one for one in steps if logs.transactional_id(one.row) == name]) for name in names)


def _turns(steps: list[_Step]) -> list[_Step]:
    """Refusals, of each process's run of them the first."""
    refused = (one for one in steps if not one.is_grant)
    return [next(run) for _, run in groupby(refused, key=lambda one: one.process)]


def _comes_back(logs: LogModel, steps: list[_Step]) -> bool:
    """Whether a process that was refused threw another one out, or was refused again too soon for a timeout."""
    turns = _turns(steps)
    for old, new in pairwise(turns):
        between = steps[steps.index(old) : steps.index(new)]
        if any(one.is_grant and one.process == old.process for one in between):
            return True
    again = ((one.row, later.row) for one, later in zip(turns, turns[2:], strict=False) if one.process == later.process)
    return any(took is not None and took <= TOO_SOON_MS for took in (logs.lasted(*rows) for rows in again))


def _is_dense(logs: LogModel, turns: list[_Step]) -> bool:
    """Whether refusals follow each other as those of living owners do, as far as they have times."""
    pauses = (logs.lasted(one.row, other.row) for one, other in pairwise(turns))
    return all(pause is None or pause <= WINDOW_MS for pause in pauses)


def _case(model: CaptureModel, name: str | None, steps: list[_Step], turns: list[_Step]) -> Case:
    rows = [one.row for one in steps]
    since, until = times_of(model.logs, rows)
    return Case(
        facts=ProcessFacts(
            id=name,
            processes=Count(len({one.process for one in turns})),
            refused=Count(len(turns)),
            lasted=lasting(model.logs.lasted(turns[0].row, turns[-1].row)),
            grants=event_refs(model, [one.row for one in steps if one.is_grant], 4),
            refusals=event_refs(model, [one.row for one in turns], 5),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=name,
        since=since,
        until=until,
        count=len(turns),
    )


PROCESS_WORDS = Words(
    ProcessFacts,
    title=("{processes:plain} processes fence each other", pick("id", {None: " over one transactional.id"}, "")),
    summary="{processes:plain} processes[ {perhaps}] used one transactional.id[ ({id})] at the same time. They were "
    "refused in turns, {refused:time}[ within {lasted}]. A transaction that was open then, if there was one, was "
    "aborted.",
    steps=(
        step("The processes initialised the transactional.id", cites="grants", needs="grants"),
        step(
            "Each was refused while the other went on, {refused:time}",
            "a process that had been refused came back",
            cites="refusals",
        ),
    ),
    considered=(
        ruled_out("transaction_timed_out", "a process that had been refused came back, and the other one was refused"),
        ruled_out("a rolling deployment", "a process that had been refused came back"),
        left_open(
            "a transactional.id of its own for each process",
            "the lines name the processes, not their ids; then others would have thrown them out",
            decided_by="the transactional.id of each process, from its settings",
            unless="id",
        ),
    ),
    remedies=(
        ONE_OWNER,
        remedy(
            "Nothing has to be sent again where the program reads its input in the same transaction, as Kafka Streams "
            "and Alpakka's Transactional.sink do: it reads it again. Else send what was aborted again, if anything was",
            "application",
        ),
    ),
)
