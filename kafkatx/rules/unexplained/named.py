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
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.rules.candidates.weighing import MOST
from kafkatx.rules.candidates.words import CANDIDATES, CandidateFacts, in_title, spoken_candidate
from kafkatx.terms.catalogue.entries import OF_FRAMES
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import is_done_again, names_read_committed
from kafkatx.text.events import Statement
from kafkatx.text.prose.statements import ONLY_IDEMPOTENT
from kafkatx.words.explanation import Bound, ConsideredWords, Words, included, remedy, step
from kafkatx.words.log_refs import testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import NameList, Quoted, Refs, facts

WORKED, READS_COMMITTED = "worked_before", "reads_committed"
INIT_HANGS = "init_hangs"
"""The symptom of a cluster that can't create __transaction_state, among others (symptoms.tsv)."""
ABORTED_VISIBLE, RECORDS_TWICE = "aborted_visible", "records_twice"
"""Symptoms of a reader with the default isolation level, among others."""

INIT, SEEN, COMMITTED_READER = "init", "seen", "committed_reader"
"""What only words tell (spoken_traits.tsv): that initialising fails, that aborted records are seen, who reads."""
MISCONFIGURED = "misconfiguration"


@facts
class NamedFacts:
    """An error (`error`, `protocol_name` and `code` as in Facts of the rule), or a symptom, that a text names.

    `named` tells how (findings/named_errors.py); `said` are the words; `others` which errors it names besides, and
    `symptoms` what it says beside an error that does not work; `candidates` and `open` the causes that fit; `traits`
    what words tell that no table knows, among it that initialising fails (`fails_to_init`), or that aborted records are
    seen (`sees_aborted`); `solved` the words by which it is over.
    """

    named: str
    error: str
    protocol_name: str | None
    code: int | None
    means: str | None
    said: Quoted
    others: NameList | None
    symptoms: NameList | None
    candidates: NameList
    open: tuple[Bound[ConsideredWords], ...]
    lines: Refs
    worked_before: bool
    reads_committed: bool
    is_only_idempotent: bool
    traits: NameList | None = None
    fails_to_init: bool = False
    sees_aborted: bool = False
    solved: Quoted | None = None

    @property
    def may_be(self) -> str | None:
        """The causes that fit best, as titles name them."""
        return in_title(self.candidates)

    @property
    def is_met(self) -> bool:
        """Whether somebody says that it happened."""
        return self.named in (NAMED_AS_MET, NAMED_AS_SYMPTOM)

    @property
    def waits_for_init(self) -> bool:
        """Whether it is initTransactions that does not come back, of what is not said to have worked before."""
        return (self.error == INIT_HANGS or self.fails_to_init) and not self.worked_before

    @property
    def may_read_all(self) -> bool:
        """Whether aborted records may be seen, and the reader is not said to read committed ones only."""
        is_twice = self.error == RECORDS_TWICE and not self.is_only_idempotent
        return (self.error == ABORTED_VISIBLE or self.sees_aborted or is_twice) and not self.reads_committed

    @property
    def is_of_frames(self) -> bool:
        """Whether frames of a stack trace tell it, without the exception."""
        return self.error.startswith(OF_FRAMES)

    @property
    def is_quoted(self) -> bool:
        """Whether the words are those that a client prints, not somebody's own."""
        return "while awaiting" in self.said


def named_cases(model: CaptureModel, findings: Sequence[Finding]) -> Iterator[Case]:
    """One case for what texts name, if nothing else is wrong: the first of it, with the rest beside."""
    found = [one for one in named_errors(model) if not (findings and one.is_of_any_words)]
    if found and not any(finding.severity >= Severity.warning for finding in findings):
        yield Case(facts=_facts(model, found[0], found[1:]), verdict=Verdict.possible, severity=Severity.info)


def _facts(model: CaptureModel, one: NamedError, others: Sequence[NamedError]) -> NamedFacts:
    known, symptoms = one.known, [other for other in others if other.is_symptom_beside(one)]
    causes: dict[str, NamedError] = {}
    for named in (one, *symptoms):
        causes.update({rule: named for rule in named.candidates if rule in CANDIDATES and rule not in causes})
    rules = [*causes][:MOST]
    return NamedFacts(
        named=one.named,
        error=one.error,
        protocol_name=known.name if known is not None and known.name != one.error else None,
        code=known.code if known is not None else None,
        means=one.means,
        said=Quoted(one.statement.text),
        others=_names(others),
        symptoms=NameList(dict.fromkeys(named.means for named in symptoms if named.means)) if symptoms else None,
        candidates=NameList(rules),
        open=tuple(
            _cause(next(named for named in (one, *symptoms) if rule in named.candidates), rule) for rule in rules
        ),
        lines=testimony_refs(one.path, _lines(one)),
        worked_before=_worked_before(model, one),
        reads_committed=_reads_committed(model, one),
        is_only_idempotent=_says(model, one, ONLY_IDEMPOTENT),
        traits=NameList(one.traits) if one.traits else None,
        fails_to_init=INIT in one.told and MISCONFIGURED in rules,
        sees_aborted=SEEN in one.told,
        solved=Quoted(one.solved.text) if one.solved is not None else None,
    )


def _reads_committed(model: CaptureModel, one: NamedError) -> bool:
    """Whether somebody says, in a name, a statement or in any words, that the reader reads committed records only."""
    is_told = names_read_committed(one.statement.text) or COMMITTED_READER in one.told
    return is_told or _says(model, one, READS_COMMITTED)


def _cause(one: NamedError, rule: str) -> Bound[ConsideredWords]:
    """What is said of a cause that fits: of one for which only traits speak, which words."""
    fit = next((fit for fit in one.fits if fit.rule == rule), None)
    if fit is not None and _said(one, rule) is None:
        return spoken_candidate(rule, fit.because, fit.words)
    return CANDIDATES[rule].of(CandidateFacts(said=_said(one, rule)))


def _said(one: NamedError, rule: str) -> Quoted | None:
    """The words of the page that speak for a cause, unless they are those of the error or the symptom."""
    found = one.speaks.get(rule)
    return Quoted(found.text) if found is not None and found.text != one.statement.text else None


def _lines(one: NamedError) -> list[Statement]:
    """The line that tells it, and others whose words speak for the first cause."""
    lines = {one.statement.line: one.statement}
    for said in one.fits[0].said if one.fits else ():
        lines.setdefault(said.line, said)
    return list(lines.values())


def _worked_before(model: CaptureModel, one: NamedError) -> bool:
    """Whether somebody says that it had worked: on the page, or by what was being done when it failed."""
    return is_done_again(one.statement.text) or _says(model, one, WORKED)


def _says(model: CaptureModel, one: NamedError, name: str) -> bool:
    """Whether the page has a statement."""
    return any(said.name == name for said in statements_of(model.logs, one.path))


def _names(others: Sequence[NamedError]) -> NameList | None:
    names = [one.error for one in others if one.named != NAMED_AS_SYMPTOM]
    return NameList(names) if names else None


FEW_BROKERS = remedy(
    "Look first at the number of brokers: with fewer than transaction.state.log.replication.factor (3 by default) "
    "__transaction_state can't be created, and initTransactions waits in vain. For one broker set it to 1, and "
    "transaction.state.log.min.isr to 1",
    "broker",
    needs="waits_for_init",
    unless="solved",
)
READ_ONLY_COMMITTED = remedy(
    text="Look first at the reader's isolation.level: its default, read_uncommitted, reads aborted records as well",
    where="client",
    config="isolation.level",
    proposed="read_committed",
    needs="may_read_all",
    unless="solved",
)
DONE = remedy(
    "Nothing to do if that holds; else add to this text what the program printed, with its times",
    "application",
    needs="solved",
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
    unless="solved",
)

BY_WHAT = pick("is_of_frames", {True: "its error is cut off"}, "in somebody's words")
NOT_SHOWN = " No line of a program in this text shows it."
NAME = "{error}[ ({protocol_name}, {code})][: {means}]"

NAMED_WORDS = Words(
    NamedFacts,
    title=(
        pick(
            "named",
            {
                NAMED_AS_MET: "{error} mentioned[, may be {may_be}]",
                NAMED_AS_SYMPTOM: ("{means}, ", BY_WHAT, "[, may be {may_be}]"),
            },
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
        "[ It says besides that {symptoms}.]",
        "[ Its words tell of {traits}.]",
        "[ It says that this is over: {solved}.]",
    ),
    steps=(step(pick("is_of_frames", {True: "This is the frame"}, "These are the words"), cites="lines"),),
    considered=(included("open"),),
    remedies=(FEW_BROKERS, READ_ONLY_COMMITTED, DONE, BRING),
)
