"""Open transactions beside which somebody says that a reader gets nothing more: then they matter now.

At any moment some transaction is open, so one at the end of the evidence is worth knowing and no more. Where people
write that readers stand still, and one transaction alone is open, it is what they wait for; of several nobody knows
which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kafkatx.findings.rule import Case, Found
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.verdicts import Severity
from kafkatx.text.events import SYMPTOM, Statement
from kafkatx.words.explanation import step
from kafkatx.words.log_refs import testimony_refs
from kafkatx.words.values import Refs

WAITS = "reader_waits"
"""The symptom (symptoms.tsv)."""
SAID_TO_WAIT = step("Somebody says that a reader gets nothing more", cites="said_to_wait", needs="said_to_wait")
"""The step of whose facts have such words in `said_to_wait`."""


def waiting_told(model: CaptureModel) -> Iterator[tuple[str, Statement]]:
    """Yield the words in which people say that a reader gets nothing more, each behind the page on which they stand."""
    for source in model.logs.facts.sources:
        for said in source.statements:
            if said.name == SYMPTOM and said.error == WAITS:
                yield source.path, said


def refs_of(told: Iterable[tuple[str, Statement]]) -> Refs:
    """Such words as places."""
    return tuple(ref for path, said in told for ref in testimony_refs(path, [said]))


def as_said(model: CaptureModel, found: Found) -> Found:
    """Yield what a rule found of open transactions; the one that is open alone as a warning where people wait."""
    met = list(found)
    cases = [one for one in met if isinstance(one, Case)]
    told = refs_of(waiting_told(model)) if len(cases) == 1 and cases[0].severity is Severity.info else ()
    for one in met:
        if told and isinstance(one, Case) and hasattr(one.facts, "said_to_wait"):
            facts: Any = one.facts
            yield replace(one, facts=replace(facts, said_to_wait=told), severity=Severity.warning)
        else:
            yield one
