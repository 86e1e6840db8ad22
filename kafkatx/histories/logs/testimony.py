"""What people say on a page, weighed: which causes their words speak for.

A coordinator refuses the producer of a transaction past its timeout and that of a replaced instance by one error. Where
no line decides which it was, the words around the lines often do: nobody else has the id and the batch took two
minutes, or a second copy was started.
Table      terms/catalogue/statement_weights.tsv: which statement speaks for which cause, or against it, and how much.
Weighing   `weighed` is the only place that asks it. Each kind of statement counts once, as much as its weightiest line.
           Long work weighs ENOUGH where it names a time from the timeout on, and nothing where it names a shorter one.
Two causes Of EXCLUSIVE one is what the other rules out: what speaks against the one speaks for the other.
Asked by   `testimony`, who ended a transaction: likely where the words weigh ENOUGH, possible where they weigh less,
           and nothing where they speak for both; a line by which somebody was given the id moments before leaves no
           time for a timeout. `speaking`, in which order causes are named that fit anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.catalogue.loading import statement_weights
from kafkatx.terms.clocks import DAY_MS, TRANSACTION_TIMEOUT_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.events import MET, NAMED, Statement
from kafkatx.text.prose.statements import TIMEOUT

ENOUGH = 2
"""Weight of statements that makes a cause the likelier one."""
LATE, TAKEN = "transaction_timed_out", "fenced_by_new_instance"
EXCLUSIVE = (LATE, TAKEN)
"""Causes of which one ends what the other one needs: where a page speaks for both, only the weightier counts."""
LONG_WORK, BEGAN, STARTED = "long_work", "began", "initialised"
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
MEANT = "meant"
"""The statement that an abort, or what else befell somebody, was wanted."""
FEWEST_WORDS = 5
"""Words of people around an error that make a sentence."""
LONGEST_MS = DAY_MS
LONGEST_WAIT_MS = 1_800_000
"""Time from a line that says that work began to a refusal above which it was other work."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A statement of a page and how much it weighs for a cause, 1 or more."""

    weight: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class Testimony:
    """Who ended a transaction as people's words have it, and the statements that say so; `path` is where they stand.

    `is_enough`: they weigh enough to make that likely; else it is possible.
    """

    ended_by: EndedBy
    path: str
    statements: tuple[Statement, ...]
    is_enough: bool


def testimony(logs: LogModel, refusal: int, timeout_ms: int) -> Testimony | None:
    """Return what the page of a refusal says about its cause; None where it says nothing, or both.

    `timeout_ms` is transaction.timeout.ms of the refused producer. That it is alone makes a timeout likely only beside
    long work, or if two kinds of words say so: a refusal needs a cause, and nobody names one.
    """
    path = logs.path(refusal)
    said = statements_of(logs, path)
    taken, alone = weighed(TAKEN, said, timeout_ms), weighed_against(TAKEN, said)
    late = [*weighed(LATE, said, timeout_ms), *_waited(logs, refusal, said, timeout_ms)]
    started = _started(logs, refusal, said, timeout_ms)
    if started is not None:
        return Testimony(EndedBy.new_instance, path, (started, *_statements(taken)), is_enough=True)
    heaviest = max(late, key=_weight, default=None)
    longest = heaviest.weight if heaviest is not None else 0
    if taken:
        is_enough = _sum(taken) >= ENOUGH
        is_of_both = bool(alone) or longest >= ENOUGH or (bool(late) and not is_enough)
        return None if is_of_both else Testimony(EndedBy.new_instance, path, _statements(taken), is_enough)
    if heaviest is None:
        return Testimony(EndedBy.timeout, path, _statements(alone), _sum(alone) > ENOUGH) if alone else None
    return Testimony(EndedBy.timeout, path, _statements([*alone, heaviest]), _sum(alone) + longest >= ENOUGH)


def speaking(candidates: Sequence[str], said: Sequence[Statement]) -> dict[str, Statement]:
    """What a page says for causes, each by the weightiest of its statements; an id that was not used decides alone."""
    timeout_ms = next((one.lasted_ms for one in said if one.name == TIMEOUT and one.lasted_ms > 0), None)
    found = {rule: weighed(rule, said, timeout_ms or TRANSACTION_TIMEOUT_MS) for rule in candidates if said}
    if all(rule in found for rule in EXCLUSIVE):
        found[LATE] = found[LATE] or weighed_against(TAKEN, said)
    heaviest = {rule: max(weights, key=_weight) for rule, weights in found.items() if weights}
    if all(rule in heaviest for rule in EXCLUSIVE):
        late, taken = (_listed(heaviest[rule].statement) for rule in EXCLUSIVE)
        for rule in EXCLUSIVE if late == taken else EXCLUSIVE[1:] if late > taken else EXCLUSIVE[:1]:
            del heaviest[rule]
    spoken = {rule: one.statement for rule, one in heaviest.items()}
    return {rule: one for rule, one in spoken.items() if one.name == IDLE} or spoken


def is_said_alone(logs: LogModel, path: str) -> bool:
    """Whether a page says that nobody else has the id, or that each start has another one, and nothing against it."""
    said = statements_of(logs, path)
    alone = [*weighed_against(TAKEN, said), *weighed("unstable_transactional_id", said)]
    return _sum(alone) >= ENOUGH and not weighed(TAKEN, said)


def is_about_instances(said: Sequence[Statement]) -> bool:
    """Whether a page says anything of how many instances have an id."""
    return bool(weighed(TAKEN, said) or weighed_against(TAKEN, said))


def weighed(cause: str, said: Sequence[Statement], timeout_ms: int = TRANSACTION_TIMEOUT_MS) -> list[Weighed]:
    """What a page says for a cause: each kind of statement once, its weightiest line, in the order of the page.

    `timeout_ms` is transaction.timeout.ms, from which on a time that is named is a long one.
    """
    weights = _weights().get(cause, {}) if said else {}
    found: dict[str, Weighed] = {}
    for one in said:
        weight = _of_work(one, weights[one.name], timeout_ms) if weights.get(one.name, 0) > 0 else 0
        if weight and (one.name not in found or weight > found[one.name].weight):
            found[one.name] = Weighed(weight, one)
    return list(found.values())


def weighed_against(cause: str, said: Sequence[Statement]) -> list[Weighed]:
    """What a page says against a cause: each kind of statement once, in the order of the page."""
    weights = _weights().get(cause, {}) if said else {}
    against = {name: -weight for name, weight in weights.items() if weight < 0}
    return [Weighed(against[one.name], one) for one in first_of_each(said, against)]


@cache
def _weights() -> dict[str, dict[str, int]]:
    """Weights of statements for each cause, below zero of what speaks against it."""
    found: dict[str, dict[str, int]] = {}
    for row in statement_weights():
        found.setdefault(row.rule, {})[row.statement] = row.weight
    return found


def _of_work(said: Statement, weight: int, timeout_ms: int) -> int:
    """How much a statement weighs; of long work that depends on the time that it names."""
    if said.name != LONG_WORK or said.lasted_ms < 0:
        return weight
    return ENOUGH if timeout_ms <= said.lasted_ms <= LONGEST_MS else 0


def _listed(said: Statement) -> int:
    """What the table says of a statement for or against EXCLUSIVE: a long time is no reason to deny other instances."""
    return max(abs(_weights()[cause].get(said.name, 0)) for cause in EXCLUSIVE)


def _weight(one: Weighed) -> int:
    return one.weight


def _sum(found: Sequence[Weighed]) -> int:
    return sum(map(_weight, found))


def _statements(found: Sequence[Weighed]) -> tuple[Statement, ...]:
    return tuple(one.statement for one in found)


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


def first_of_each(said: Sequence[Statement], names: Collection[str]) -> list[Statement]:
    """The first statement of each kind that is meant."""
    found: dict[str, Statement] = {}
    for one in said:
        if one.name in names:
            found.setdefault(one.name, one)
    return list(found.values())


def _waited(logs: LogModel, refusal: int, said: Sequence[Statement], timeout_ms: int) -> Iterator[Weighed]:
    """The last line before a refusal by which work began, where that is as long ago as the timeout or longer."""
    line = int(logs.events["line"][refusal])
    last = max((one for one in said if one.name == BEGAN and one.line < line), key=lambda one: one.line, default=None)
    if last is not None and timeout_ms <= _since(logs, refusal, last) <= LONGEST_WAIT_MS:
        yield Weighed(ENOUGH, last)


def _since(logs: LogModel, refusal: int, said: Statement) -> int:
    """Milliseconds from the line of a statement to a refusal, -1 where nothing tells."""
    at, of_day = int(logs.events["at"][refusal]), logs.number(refusal, "of_day")
    if at >= 0 and said.at >= 0:
        return at - said.at
    if of_day is None and at >= 0:
        of_day = at % DAY_MS
    return (of_day - said.of_day) % DAY_MS if of_day is not None and said.of_day >= 0 else -1
