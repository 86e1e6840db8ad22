"""Errors and symptoms that a text only names: told for information where nothing else is, with the causes that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkatx.findings.finding import Finding
from kafkatx.findings.named_errors import (
    NAMED_AS_MET,
    NAMED_AS_SYMPTOM,
    NamedError,
    named_errors,
)
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.testimony import leaning_on_page, statements_of
from kafkatx.rules.candidates.weighing import MOST
from kafkatx.rules.candidates.words import CANDIDATES, CandidateFacts
from kafkatx.terms.catalogue.entries import OF_FRAMES
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import is_done_again, names_read_committed
from kafkatx.words.explanation import Bound, ConsideredWords, Words, included, remedy, step
from kafkatx.words.log_refs import testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import NameList, Quoted, Refs, facts

WORKED = "worked_before"
INIT_HANGS = "init_hangs"
"""The symptom of a cluster that can't create __transaction_state, among others (symptoms.tsv)."""
ABORTED_VISIBLE = "aborted_visible"
"""The symptom of a reader with the default isolation level, among others."""


@facts
class NamedFacts:
    """An error (`error`, `protocol_name` and `code` as in Facts of the rule), or a symptom, that a text names.

    `named` tells how (findings/named_errors.py); `said` are the words; `others` what else it names; `candidates` and
    `open` the causes that fit.
    """

    named: str
    error: str
    protocol_name: str | None
    code: int | None
    means: str | None
    said: Quoted
    others: NameList | None
    candidates: NameList
    open: tuple[Bound[ConsideredWords], ...]
    lines: Refs
    worked_before: bool
    reads_committed: bool

    @property
    def is_met(self) -> bool:
        """Whether somebody says that it happened."""
        return self.named in (NAMED_AS_MET, NAMED_AS_SYMPTOM)

    @property
    def waits_for_init(self) -> bool:
        """Whether it is initTransactions that does not come back, of what is not said to have worked before."""
        return self.error == INIT_HANGS and not self.worked_before

    @property
    def may_read_all(self) -> bool:
        """Whether aborted records are seen, and the reader is not said to read committed ones only."""
        return self.error == ABORTED_VISIBLE and not self.reads_committed

    @property
    def is_of_frames(self) -> bool:
        """Whether frames of a stack trace tell it, without the exception."""
        return self.error.startswith(OF_FRAMES)

    @property
    def is_quoted(self) -> bool:
        """Whether the words are those that a client prints, not somebody's own."""
        return "while awaiting" in self.said


LEANS = {EndedBy.timeout: "transaction_timed_out", EndedBy.new_instance: "fenced_by_new_instance"}
"""Rules of the causes that words may speak for."""


def named_cases(model: CaptureModel, findings: Sequence[Finding]) -> Iterator[Case]:
    """One case for what texts name, if nothing else is wrong: the first of it, with the rest beside."""
    found = [one for one in named_errors(model) if not (findings and one.is_of_any_words)]
    if found and not any(finding.severity >= Severity.warning for finding in findings):
        yield Case(facts=_facts(model, found[0], found[1:]), verdict=Verdict.possible, severity=Severity.info)


def _facts(model: CaptureModel, one: NamedError, others: Sequence[NamedError]) -> NamedFacts:
    known, rules = one.known, _ordered(model, one)[:MOST]
    return NamedFacts(
        named=one.named,
        error=one.error,
        protocol_name=known.name if known is not None and known.name != one.error else None,
        code=known.code if known is not None else None,
        means=one.means,
        said=Quoted(one.statement.text),
        others=_names(others),
        candidates=NameList(rules),
        open=tuple(CANDIDATES[rule].of(CandidateFacts()) for rule in rules),
        lines=testimony_refs(one.path, [one.statement]),
        worked_before=_worked_before(model, one),
        reads_committed=names_read_committed(one.statement.text),
    )


def _ordered(model: CaptureModel, one: NamedError) -> list[str]:
    """The causes that fit, the commonest first; the one that the page's other words speak for before it."""
    rules = [rule for rule in one.candidates if rule in CANDIDATES]
    said = leaning_on_page(model.logs, one.path)
    first = LEANS[said.ended_by] if said is not None else None
    return sorted(rules, key=lambda rule: rule != first)


def _worked_before(model: CaptureModel, one: NamedError) -> bool:
    """Whether somebody says that it had worked: on the page, or by what was being done when it failed."""
    said = statements_of(model.logs, one.path)
    return is_done_again(one.statement.text) or any(other.name == WORKED for other in said)


def _names(others: Sequence[NamedError]) -> NameList | None:
    names = [one.error for one in others if one.named != NAMED_AS_SYMPTOM]
    return NameList(names) if names else None


FEW_BROKERS = remedy(
    "Look first at the number of brokers: with fewer than transaction.state.log.replication.factor (3 by default) "
    "__transaction_state can't be created, and initTransactions waits in vain. For one broker set it to 1, and "
    "transaction.state.log.min.isr to 1",
    "broker",
    needs="waits_for_init",
)
READ_ONLY_COMMITTED = remedy(
    text="Look first at the reader's isolation.level: its default, read_uncommitted, reads aborted records as well",
    where="client",
    config="isolation.level",
    proposed="read_committed",
    needs="may_read_all",
)
BRING = remedy(
    (
        pick("is_met", {False: "Nothing to do unless it was met: then add"}, "Add"),
        " to this text what the program printed: ",
        pick(
            "is_of_frames",
            {True: "the error that these frames belong to (above them, in Python below), with its time"},
            "its first error with the time, and the lines before it",
        ),
    ),
    "application",
)

BY_WHAT = pick("is_of_frames", {True: "its error is cut off"}, "in somebody's words")
NOT_SHOWN = " No line of a program in this text shows it."
NAME = "{error}[ ({protocol_name}, {code})][: {means}]"

NAMED_WORDS = Words(
    NamedFacts,
    title=(
        pick(
            "named",
            {NAMED_AS_MET: "{error} mentioned", NAMED_AS_SYMPTOM: ("{means}, ", BY_WHAT)},
            "{error} only mentioned",
        ),
    ),
    summary=(
        pick(
            "named",
            {
                NAMED_AS_MET: f"Somebody[ {{perhaps}}] met {NAME}.{NOT_SHOWN}",
                NAMED_AS_SYMPTOM: pick(
                    "is_of_frames",
                    {
                        True: "The text has frames of a stack trace without its error: {said}. By them {means}[, "
                        "{perhaps}].",
                    },
                    (
                        pick(
                            "is_quoted",
                            {True: "By Kafka's own words, as somebody quotes them,[ {perhaps}] {means}: {said}."},
                            "Somebody[ {perhaps}] saw that {means}: {said}.",
                        ),
                        NOT_SHOWN,
                    ),
                ),
            },
            f"The text speaks of {NAME}. Nothing in it shows that somebody met it;[ {{perhaps}}] nobody did.",
        ),
        "[ The text names {others}, too.]",
    ),
    steps=(step(pick("is_of_frames", {True: "This is the frame"}, "These are the words"), cites="lines"),),
    considered=(included("open"),),
    remedies=(FEW_BROKERS, READ_ONLY_COMMITTED, BRING),
)
