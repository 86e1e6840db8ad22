"""What people say about a refusal: whether it speaks for a timeout or for a new instance.

A coordinator refuses the producer of a transaction past its timeout and that of a replaced instance by one error. Where
no line decides which it was, the words around the lines often do: nobody else has the id and the batch took two
minutes, or a second copy was started. Each kind of statement counts once; those for one cause decide only where none
speaks for the other. A line by which somebody was given the id moments before leaves no time for a timeout. It is
testimony: likely at most, and cited with its words. Words that weigh less than that lean to a cause where all of them
speak for one (`leaning`): that is possible, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.log_model import DAY_MS, LogModel
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.events import Statement
from kafkatx.text.named_errors import MET, NAMED
from kafkatx.text.statements import ONLY_IDEMPOTENT, TIMEOUT

ENOUGH = 2
"""Weight of statements that makes a cause the likelier one."""
OF_OWNERS = {"one_owner": 2, "one_instance": 1}
OF_NEWCOMERS = {"same_id_elsewhere": 2, "more_instances": 1}
LONG_WORK, BEGAN, STARTED = "long_work", "began", "initialised"
SAID_TIMED_OUT = "timed_out_said"
"""The statement of somebody that the broker ended a transaction at its timeout."""
IDLE = "idle_long"
"""The statement that an id or a producer had not been used for long."""
ID_OPTION = "id_option"
MADE_RANDOM = "random_id"
"""The statement of who makes another transactional.id at each start."""
_OPTION = regex(r"--transactional-id[ =][\"'`]?(?P<id>[\w.:-]{1,249})(?=[\s\"'`]|$)")
"""The option by which a call of a tool names the id of its producer."""
_WORDS = regex(r"(?<![\w.$])[a-z]{2,}(?![\w.(:=])")
_COPIED = regex(r"\w\.[A-Z]\w{2,79}(?:Exception|Error): ?\S|KafkaError\{|%[0-7]\|")
"""What nobody writes by hand: a program printed it, whatever stands around it."""
BROKERS_AWAY = "brokers_away"
MEANT = "meant"
"""The statement that an abort, or what else befell somebody, was wanted."""
SPEAKS_FOR: Mapping[str, Mapping[str, int]] = {
    "transactional_id_expired": {IDLE: 2},
    "producer_state_expired": {IDLE: 2, "short_retention": 1},
    "transaction_timed_out": {SAID_TIMED_OUT: 2, "timeout_named": 2, LONG_WORK: 1},
    "fenced_by_new_instance": OF_NEWCOMERS,
    "shared_producer": {"same_id_elsewhere": 2},
    "unstable_transactional_id": {MADE_RANDOM: 2},
    "coordinator_unavailable": {BROKERS_AWAY: 1},
    "broker_unreachable": {BROKERS_AWAY: 1},
    "stuck_prepare": {BROKERS_AWAY: 1},
    "misconfiguration": {"one_broker": 2, "isr_of_all": 2, "reads_by_default": 2, "topic_missing": 2},
    "duplicate_sequence": {ONLY_IDEMPOTENT: 1},
    "concurrent_transactions_storm": {"each_record": 1},
    "hanging_transaction": {"no_owner": 2},
    "open_transaction": {"long_transaction": 1},
    "client_bug": {"other_reader_reads": 2},
}
"""Statements of a page (statements.tsv) that speak for a cause, each with its weight."""
EXCLUSIVE = ("transaction_timed_out", "fenced_by_new_instance")
"""Causes of which one ends what the other one needs: where a page speaks for both, only the weightier counts."""
FEWEST_WORDS = 5
"""Words of people around an error that make a sentence."""
LONGEST_MS = DAY_MS
LONGEST_WAIT_MS = 1_800_000
"""Time from a line that says that work began to a refusal above which it was other work."""


@dataclass(frozen=True, slots=True)
class Testimony:
    """Who ended a transaction as people's words have it, and the statements that say so; `path` is where they stand."""

    ended_by: EndedBy
    path: str
    statements: tuple[Statement, ...]


def testimony(logs: LogModel, refusal: int, timeout_ms: int) -> Testimony | None:
    """Return what the page of a refusal says about its cause; None where it says nothing, or both."""
    path = logs.path(refusal)
    said = statements_of(logs, path)
    newcomers = first_of_each(said, OF_NEWCOMERS)
    owners = first_of_each(said, OF_OWNERS)
    works = list(_works(logs, refusal, said, timeout_ms))
    alone = sum(OF_OWNERS[one.name] for one in owners)
    late = alone + max((weight for weight, _ in works), default=0)
    started = _started(logs, refusal, said, timeout_ms)
    if started is not None:
        return Testimony(EndedBy.new_instance, path, (started, *newcomers))
    taken = sum(OF_NEWCOMERS[one.name] for one in newcomers)
    if late >= ENOUGH and (works or alone > ENOUGH) and not newcomers:
        longest = [one for weight, one in works if weight == max(weight for weight, _ in works)]
        return Testimony(EndedBy.timeout, path, (*owners, *longest[:1]))
    if taken >= ENOUGH and not owners and all(weight < ENOUGH for weight, _ in works):
        return Testimony(EndedBy.new_instance, path, tuple(newcomers))
    return None


def is_said_alone(logs: LogModel, path: str) -> bool:
    """Whether a page says that nobody else has the id, or that each start has another one, and nothing against it."""
    said = statements_of(logs, path)
    owners = {**OF_OWNERS, MADE_RANDOM: ENOUGH}
    alone = sum(owners[one.name] for one in first_of_each(said, owners))
    return alone >= ENOUGH and not first_of_each(said, OF_NEWCOMERS)


def leaning(logs: LogModel, refusal: int, timeout_ms: int) -> Testimony | None:
    """Return the cause that all words on the page of a refusal speak for, where they weigh too little to decide."""
    path = logs.path(refusal)
    said = statements_of(logs, path)
    works = [one for _, one in _works(logs, refusal, said, timeout_ms)]
    newcomers, owners = first_of_each(said, OF_NEWCOMERS), first_of_each(said, OF_OWNERS)
    if newcomers and not owners and not works:
        return Testimony(EndedBy.new_instance, path, tuple(newcomers))
    if (owners or works) and not newcomers:
        return Testimony(EndedBy.timeout, path, (*owners, *works[:1]))
    return None


def speaking(candidates: Sequence[str], said: Sequence[Statement]) -> dict[str, Statement]:
    """What a page says for causes, each by the weightiest of its statements; an id that was not used decides alone."""
    by_name = {one.name: one for one in reversed(said)}
    found = {rule: _weightiest(SPEAKS_FOR.get(rule, {}), by_name) for rule in candidates}
    if all(rule in found for rule in EXCLUSIVE) and not found[EXCLUSIVE[0]][1]:
        found[EXCLUSIVE[0]] = _weightiest(OF_OWNERS, by_name)
    spoken = {rule: by_name[name] for rule, (name, weight) in found.items() if weight}
    idle = {rule: one for rule, one in spoken.items() if one.name == IDLE}
    if idle:
        return idle
    if all(rule in spoken for rule in EXCLUSIVE):
        late, taken = (found[rule][1] for rule in EXCLUSIVE)
        out = EXCLUSIVE if late == taken else EXCLUSIVE[1:] if late > taken else EXCLUSIVE[:1]
        return {rule: one for rule, one in spoken.items() if rule not in out}
    return spoken


def _weightiest(names: Mapping[str, int], said: Mapping[str, Statement]) -> tuple[str, int]:
    """The statement that weighs most of those that a page has, with its weight; none weighs nothing."""
    return max(
        ((name, weight) for name, weight in names.items() if name in said), key=lambda one: one[1], default=("", 0)
    )


def told_timeout(logs: LogModel, path: str) -> int | None:
    """The transaction.timeout.ms that people say, in milliseconds."""
    said = [one.lasted_ms for one in statements_of(logs, path) if one.name == TIMEOUT and one.lasted_ms > 0]
    return said[-1] if said else None


def only_told_timeout(logs: LogModel, path: str) -> tuple[int, Statement] | None:
    """The same with the statement, where all that a page says of it is one number."""
    said = [one for one in statements_of(logs, path) if one.name == TIMEOUT and one.lasted_ms > 0]
    return (said[0].lasted_ms, said[0]) if len({one.lasted_ms for one in said}) == 1 else None


def told_id(logs: LogModel, path: str) -> str | None:
    """The transactional.id that a command line on the page gave its producer, where it is one only."""
    said = [one.text for one in statements_of(logs, path) if one.name == ID_OPTION]
    names = {found["id"] for text in said if (found := _OPTION.search(text)) is not None}
    return names.pop() if len(names) == 1 else None


def _started(logs: LogModel, refusal: int, said: tuple[Statement, ...], timeout_ms: int) -> Statement | None:
    """The last line before a refusal by which somebody was given an id: no transaction since can have timed out."""
    near = [(since, one) for one in said if one.name == STARTED and (since := _since(logs, refusal, one)) >= 0]
    since, one = min(near, key=lambda pair: pair[0], default=(timeout_ms, None))
    return one if 2 * since <= timeout_ms else None


def statements_of(logs: LogModel, path: str) -> tuple[Statement, ...]:
    """What people say on a page, whichever part of it was asked."""
    of_page = (source.statements for source in logs.facts.sources if source.path == path)
    return next((statements for statements in of_page if statements), ())


def says_meant(logs: LogModel) -> bool:
    """Whether somebody says of an abort, or of a refusal, that it was wanted."""
    return any(said.name == MEANT for source in logs.facts.sources for said in source.statements)


def is_in_sentence(logs: LogModel, row: int) -> bool:
    """Whether all that tells a line is a sentence in which somebody quotes an error: no program printed it there."""
    line, own = int(logs.events["line"][row]), logs.string(row, "detail") or ""
    if logs.at(row) is not None or logs.number(row, "of_day") is not None or logs.string(row, "logger"):
        return False
    said = [one.text for one in statements_of(logs, logs.path(row)) if one.name in (MET, NAMED) and one.line == line]
    if any(_COPIED.search(text) for text in said):
        return False
    return any(len(_WORDS.findall(text.replace(own, " "))) >= FEWEST_WORDS for text in said)


def first_of_each(said: tuple[Statement, ...], names: dict[str, int]) -> list[Statement]:
    """The first statement of each kind that is meant."""
    found: dict[str, Statement] = {}
    for one in said:
        if one.name in names:
            found.setdefault(one.name, one)
    return list(found.values())


def _works(
    logs: LogModel, refusal: int, said: tuple[Statement, ...], timeout_ms: int
) -> Iterator[tuple[int, Statement]]:
    """Statements that the work took long, each behind its weight: more where they name a time past the timeout."""
    yield from _long(said, timeout_ms)
    line = int(logs.events["line"][refusal])
    last = max((one for one in said if one.name == BEGAN and one.line < line), key=lambda one: one.line, default=None)
    if last is not None and timeout_ms <= _since(logs, refusal, last) <= LONGEST_WAIT_MS:
        yield ENOUGH, last


def _long(said: tuple[Statement, ...], timeout_ms: int) -> Iterator[tuple[int, Statement]]:
    """The same of what needs no time of a line."""
    for one in said:
        if one.name == SAID_TIMED_OUT or (one.name == LONG_WORK and timeout_ms <= one.lasted_ms <= LONGEST_MS):
            yield ENOUGH, one
        elif one.name == LONG_WORK and one.lasted_ms < 0:
            yield 1, one


def _since(logs: LogModel, refusal: int, said: Statement) -> int:
    """Milliseconds from the line of a statement to a refusal, -1 where nothing tells."""
    at, of_day = int(logs.events["at"][refusal]), logs.number(refusal, "of_day")
    if at >= 0 and said.at >= 0:
        return at - said.at
    if of_day is None and at >= 0:
        of_day = at % DAY_MS
    return (of_day - said.of_day) % DAY_MS if of_day is not None and said.of_day >= 0 else -1
