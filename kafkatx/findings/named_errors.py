"""What pages name in words and no line of a program shows: errors that somebody met or speaks of, and symptoms.

It is the last resort of a diagnosis (text/prose/named_errors.py): no rule builds on it. It is told with the causes
that the catalogue names, where nothing else of the evidence is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from kafkatx.findings.endless_retries import waiting_call
from kafkatx.findings.failure_kinds import OF_CALLS
from kafkatx.findings.protocol_errors import protocol_error
from kafkatx.findings.told_failures import EFFECTS, OUTCOME
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.testimony import speaking
from kafkatx.terms.catalogue.entries import ClientException, ProtocolError, plain_name
from kafkatx.terms.catalogue.loading import client_exceptions, symptoms
from kafkatx.terms.records import dataclass
from kafkatx.text.events import FAILED, KAFKA_FAILED, MET, NAMED, SOLVED, SYMPTOM, TRAIT, Statement
from kafkatx.text.logs.calls import call_in
from kafkatx.text.prose.named_errors import OF_WAITS, is_of_producers

if TYPE_CHECKING:
    from kafkatx.findings.spoken_causes import FittingCause

NAMED_AS_MET, NAMED_AS_SYMPTOM, SPOKEN_OF = "met", "symptom", "spoken_of"
"""How a text names something: somebody writes that it happened, writes what does not work, or speaks of any case."""
OF_ANY_WORDS = {
    FAILED: "something with transactions or idempotence failed",
    KAFKA_FAILED: "something with Kafka failed",
}
"""What words mean that no table knows."""
UNANSWERED = "a call got no answer in its time"
WAITED = {"initTransactions": "initTransactions (InitProducerId) got no answer in its time"}
"""What a timeout means of which the words name the call that waited."""


@dataclass(frozen=True, slots=True)
class NamedError:
    """An error or a symptom that a page names: in which words and where, what it means, the causes that fit.

    `known` is the protocol's error, None of a client's own and of symptoms; `speaks` are the words of the page that
    speak for a cause, by its rule, `fits` why causes fit for which nothing but traits speak, `traits` what these tell,
    `told` the names of that; `solved` is the statement that it is over.
    """

    error: str
    known: ProtocolError | None
    means: str | None
    candidates: tuple[str, ...]
    path: str
    statement: Statement
    speaks: Mapping[str, Statement] = field(default_factory=dict)
    fits: tuple[FittingCause, ...] = ()
    traits: tuple[str, ...] = ()
    told: frozenset[str] = frozenset()
    solved: Statement | None = None

    @property
    def named(self) -> str:
        """How the text names it."""
        return {MET: NAMED_AS_MET, SYMPTOM: NAMED_AS_SYMPTOM}.get(self.statement.name, SPOKEN_OF)

    @property
    def is_of_any_words(self) -> bool:
        """Whether only words that no table knows say that something failed: a finding beside it says more."""
        return self.error in OF_ANY_WORDS

    def is_symptom_beside(self, error: NamedError) -> bool:
        """Whether it is what does not work, told on the page of an error that was met."""
        is_beside = self.named == NAMED_AS_SYMPTOM and self.path == error.path
        return is_beside and error.named == NAMED_AS_MET and not self.is_of_any_words


def named_errors(model: CaptureModel) -> list[NamedError]:
    """Everything that pages name, each once: errors that were met, then symptoms, then errors that are spoken of.

    Of several the errors first that only producers with an id, or transactions, meet.
    """
    found: dict[tuple[str, str], NamedError] = {}
    for source in model.logs.facts.sources:
        for said in source.statements:
            if said.name in (MET, NAMED, SYMPTOM):
                one = _symptom(source.path, said) if said.name == SYMPTOM else _error(source.path, said)
                named = _explained(one, source.statements)
                found.setdefault((source.path, _subject(named)), named)
    order = (MET, SYMPTOM, NAMED)
    return sorted(found.values(), key=lambda one: (order.index(one.statement.name), not is_of_producers(one.error)))


def _subject(named: NamedError) -> str:
    """What makes two names one: the protocol's error."""
    return named.known.name if named.known is not None else named.error


def _error(path: str, said: Statement) -> NamedError:
    call = call_in(said.text, is_kafka=True) if said.error in OF_WAITS else None
    call = waiting_call(call) or call
    if call in OF_CALLS:
        return NamedError(said.error, None, WAITED.get(call, UNANSWERED), OF_CALLS[call], path, said)
    known, rows = protocol_error(said.error), _rows(said.error)
    rules = [*_of_error(known, rows), *(rule for row in rows for rule in row.rules)]
    means = known.meaning if known is not None else next((row.meaning for row in rows if row.meaning), None)
    causes = tuple(dict.fromkeys(rule for rule in rules if rule not in EFFECTS))
    return NamedError(said.error, known, means, causes, path, said)


def _of_error(known: ProtocolError | None, rows: list[ClientException]) -> tuple[str, ...]:
    """Mechanisms of the protocol's error, in the order of Java's class for it, where that has the same.

    Since 2.7 InvalidProducerEpochException of Java is what leaders answer to writes; coordinators say PRODUCER_FENCED.
    """
    named = known.rules if known is not None else ()
    own = (row.rules for row in rows if row.client == "java" and set(row.rules) == set(named))
    return next(own, named)


def _rows(name: str) -> list[ClientException]:
    """Rows of the catalogue about an error that a client's application sees."""
    return [row for row in client_exceptions() if name in map(plain_name, row.exceptions)]


def _symptom(path: str, said: Statement) -> NamedError:
    """A symptom with its causes; an abort without an answer leaves no outcome open: nothing of it was committed."""
    if (means := OF_ANY_WORDS.get(said.error)) is not None:
        return NamedError(said.error, None, means, (), path, said)
    row = next(row for row in symptoms() if row.name == said.error)
    is_abort = call_in(said.text, is_kafka=True) == "abortTransaction"
    rules = tuple(rule for rule in row.rules if not (is_abort and rule == OUTCOME))
    return NamedError(said.error, None, row.meaning, rules, path, said)


def _explained(one: NamedError, said: tuple[Statement, ...]) -> NamedError:
    """The same with its causes in the order that the words around speak for: statements first, then traits that fit."""
    solved = next((other for other in said if other.name == SOLVED), None)
    one = _spoken_for(replace(one, solved=solved), said)
    if one.named != NAMED_AS_SYMPTOM or not any(other.name == TRAIT for other in said):
        return one
    from kafkatx.findings.spoken_causes import denied_causes, fitting_causes, told_traits

    told, symptom = told_traits(said), "" if one.is_of_any_words else one.error
    beside = [other for other in said if other.line == one.statement.line]
    fits, denied = fitting_causes(said, symptom), denied_causes(beside, symptom) if symptom else frozenset()
    causes = tuple(dict.fromkeys((*(fit.rule for fit in fits), *one.candidates)))
    one = _spoken_for(replace(one, candidates=causes), said)
    return replace(
        one,
        candidates=tuple(sorted(one.candidates, key=lambda rule: rule in denied)),
        fits=fits,
        traits=tuple(trait.phrase for trait in told),
        told=frozenset(trait.name for trait in told),
    )


def _spoken_for(one: NamedError, said: tuple[Statement, ...]) -> NamedError:
    """The same with the causes first that statements of the page speak for."""
    speaks = speaking(one.candidates, said)
    return replace(one, candidates=tuple(sorted(one.candidates, key=lambda rule: rule not in speaks)), speaks=speaks)
