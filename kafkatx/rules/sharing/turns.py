"""Two owners of one transactional.id as their own logs show them: they take it from each other in turns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kafkatx.findings.client_lines import only, producer_at, times_of
from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.rule import Case
from kafkatx.findings.shared_prefixes import prefix_facts
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.fencing.shared_words import PREFIXES_APART
from kafkatx.rules.sharing.owners import CRASH_LOOP, SENT_AGAIN, TURNS, WINDOW_MS, id_of_its_own
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, ruled_out, step
from kafkatx.words.facts import instant, producer
from kafkatx.words.log_refs import client_seen, event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Instant, NameList, Producer, Refs, facts


@facts
class TurnFacts:
    """An id that living producers took from each other; `sources` counts their logs.

    `comes_back`: a former process took it again. `turns` are the first ones and the last, `owners` whom they name.
    `prefix` is that of the id where running instances have it in common, `sharers` are their logs.
    """

    id: str
    count: Count
    sources: Count
    comes_back: bool
    owners: tuple[Bound[ActorWords], ...]
    turns: tuple[ToldTurn, ...]
    refusals: Refs
    prefix: str | None
    sharers: NameList

    @property
    def is_inside(self) -> bool:
        """Whether one process holds them all."""
        return self.sources == 1


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A producer, by its name in the steps, got the id, and the former one was refused after that."""

    new: str
    old: str
    at: Instant | None
    given: Producer | None
    lines: Refs


@dataclass(frozen=True, slots=True)
class Turn:
    """An owner took the id over from another one that was alive: rows of the grant and of the refusal."""

    old: ClientInstance
    new: ClientInstance
    given: int
    refused: int
    at: int | None


def in_turns(model: CaptureModel) -> Iterator[Case]:
    """One case for each id that living owners took from each other at least TURNS times, as their logs show."""
    owners: dict[str, list[ClientInstance]] = {}
    for client in model.logs.clients:
        if client.transactional_id is not None and client.owns_producer_ids and not client.is_consumer:
            owners.setdefault(client.transactional_id, []).append(client)
    for transactional_id in sorted(owners):
        turns = _dense(_turns(model.logs, owners[transactional_id]))
        if len(turns) >= TURNS and not _is_rolling(turns) and not hands_ids_on(model, transactional_id):
            yield _case(model, transactional_id, turns)


def _turns(logs: LogModel, owners: list[ClientInstance]) -> list[Turn]:
    """Take-overs of owners that were refused afterwards, in the order in which the producer id was given."""
    given = [(one.producer_id, one.producer_epoch, owner, one.row) for owner in owners for one in owner.initialisations]
    given.sort(key=lambda entry: (entry[0], entry[1]))
    found: list[Turn] = []
    for (_, _, old, _), (_, _, new, row) in pairwise(given):
        refused = _refused_after(logs, old, row) if new is not old else None
        if refused is not None:
            found.append(Turn(old, new, row, refused, logs.at(row)))
    return sorted(found, key=lambda turn: turn.at if turn.at is not None else -1)


def _refused_after(logs: LogModel, old: ClientInstance, row: int) -> int | None:
    """Row that shows that an owner was alive, and refused, after another had been given its producer id."""
    at = logs.at(row)
    for failure in old.failures:
        later = failure.row > row if failure.at is None or at is None else failure.at >= at
        if later and (failure.row > row or not _same_source(logs, failure, row)) and failure.error in FENCED:
            return failure.row
    return None


def _same_source(logs: LogModel, failure: Failure, row: int) -> bool:
    return bool(logs.events["source"][failure.row] == logs.events["source"][row])


def _dense(turns: list[Turn]) -> list[Turn]:
    """The longest run of take-overs none of which is further than WINDOW_MS from the one before."""
    runs: list[list[Turn]] = [[]]
    for turn in turns:
        last = runs[-1][-1] if runs[-1] else None
        if last is not None and turn.at is not None and last.at is not None and turn.at - last.at > WINDOW_MS:
            runs.append([])
        runs[-1].append(turn)
    return max(runs, key=len)


def _is_rolling(turns: list[Turn]) -> bool:
    """Whether nobody came back, and they are too few for anything but a deployment."""
    return len(turns) <= TURNS and not _alternates(turns)


def _alternates(turns: list[Turn]) -> bool:
    """Whether an owner that had lost the id took it again: by its process (its log), not by the object."""
    return any(later.new.source in {turn.old.source for turn in turns[: at + 1]} for at, later in enumerate(turns[1:]))


def _case(model: CaptureModel, transactional_id: str, turns: list[Turn]) -> Case:
    facts = _facts(model, transactional_id, turns)
    since, until = times_of(model.logs, [row for turn in turns for row in (turn.given, turn.refused)])
    return Case(
        facts=facts,
        verdict=Verdict.proved if facts.comes_back and facts.sources > 1 else Verdict.likely,
        severity=Severity.error,
        transactional_id=transactional_id,
        producer_id=only(producer_at(turn.new, turn.given)[0] for turn in turns),
        since=since,
        until=until,
        count=len(turns),
    )


def _facts(model: CaptureModel, transactional_id: str, turns: list[Turn]) -> TurnFacts:
    told = [*turns[:3], *turns[3:][-1:]]
    owners = {client.number: client for turn in told for client in (turn.old, turn.new)}
    names = {number: f"P{count}" for count, number in enumerate(owners, start=1)}
    return TurnFacts(
        id=transactional_id,
        count=Count(len(turns)),
        sources=Count(len({client.source for turn in turns for client in (turn.old, turn.new)})),
        comes_back=_alternates(turns),
        owners=tuple(client_seen(model, owner, names[number]) for number, owner in owners.items()),
        turns=tuple(_told(model, turn, names) for turn in told),
        refusals=event_refs(model, [turn.refused for turn in turns], 3),
        **prefix_facts(model, transactional_id),
    )


def _told(model: CaptureModel, turn: Turn, names: dict[int, str]) -> ToldTurn:
    lines = (*event_refs(model, [turn.given]), *event_refs(model, [turn.refused]))
    given = producer(*producer_at(turn.new, turn.given))
    return ToldTurn(names[turn.new.number], names[turn.old.number], instant(turn.at), given, lines)


TURN_WORDS = Words(
    TurnFacts,
    title=pick(
        "prefix",
        {
            None: (
                "used by ",
                pick("sources", {1: "several producers of one process"}, "{sources:plain} processes"),
                " at once",
            )
        },
        "used by {sources:plain} processes that have one prefix",
    ),
    summary=(
        pick("sources", {1: "Several producers of one process"}, "{sources:plain} processes"),
        "[ {perhaps}] used {id} at the same time",
        pick("prefix", {None: ""}, ": {sharers} have the same transaction-id-prefix {prefix}"),
        ". {count:time} one fenced another that was alive. A transaction that "
        "was open then, if there was one, was aborted.",
    ),
    actors=(included("owners"),),
    steps=(
        step(
            "{each.new} initialised {id}[ at {each.at}][ as {each.given}] and fenced {each.old}, which was alive",
            "{each.old}'s log shows the refusal after that",
            cites="each.lines",
            each="turns",
        ),
    ),
    considered=(
        ruled_out(
            CRASH_LOOP, "each fenced instance was alive: it was refused after it had lost the id", cites="refusals"
        ),
        ruled_out("a rolling deployment", "a former process took the id again", needs="comes_back", unless="is_inside"),
        left_open(
            "a rolling deployment",
            "no former process took the id again",
            decided_by="the times at which instances were deployed and stopped",
            unless="comes_back",
        ),
        left_open(
            "a producer that was replaced before it was closed",
            "all producers wrote to one log",
            decided_by="the code that creates and closes the producers of {id}",
            needs="is_inside",
        ),
    ),
    remedies=(PREFIXES_APART, id_of_its_own(unless="prefix"), SENT_AGAIN),
)
