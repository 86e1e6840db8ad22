"""Data of one producer id without a marker up to the log end, typed: whose they are, and how far the evidence reaches.

What the rules about open data share; whether anybody will end them is for each of them to say. At any moment some
transaction is open, so one at the end of the evidence is worth knowing and no more. Where people write that readers
stand still, and one transaction alone is open, it is what they wait for; of several nobody knows which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from kafkatx.findings.grouping import SpanColumns, columns_of
from kafkatx.findings.rule import Case, Found
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.ended import known
from kafkatx.histories.transaction_partitions import DISPUTED
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import OVER_GAP
from kafkatx.terms.clocks import TWO_PHASE_TIMEOUT_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity
from kafkatx.text.events import SYMPTOM, Statement
from kafkatx.words.evidence_refs import data_ref, latest_row
from kafkatx.words.explanation import step
from kafkatx.words.facts import offsets
from kafkatx.words.log_refs import testimony_refs
from kafkatx.words.values import OffsetRange, Refs

WAITS = "reader_waits"
"""The symptom (symptoms.tsv)."""
SAID_TO_WAIT = step("Somebody says that a reader gets nothing more", cites="said_to_wait", needs="said_to_wait")
"""The step of whose facts have such words in `said_to_wait`."""


@dataclass(frozen=True)
class OpenSpan:
    """A span without a marker, by its number."""

    model: CaptureModel
    number: int

    @cached_property
    def span(self) -> Array:
        """Its row."""
        return self.model.spans[self.number]

    @property
    def producer_id(self) -> int:
        """Whose data they are, by number."""
        return int(self.span["producer_id"])

    @property
    def log_extent(self) -> LogExtent:
        """How far its partition's evidence reaches."""
        return self.model.log_extents[int(self.span["partition_code"])]

    @property
    def is_over_gap(self) -> bool:
        """Whether a marker may lie where offsets are missing."""
        return bool(self.span["flags"] & OVER_GAP and self.log_extent.has_gaps)

    @property
    def is_ended_in_gap(self) -> bool:
        """Whether its transaction is complete, so that its partition had a marker, and offsets are missing."""
        number = self.transaction
        is_complete = number is not None and self.model.transactions["completion_offset"][number] >= 0
        return bool(is_complete and self.is_over_gap)

    @property
    def transaction(self) -> int | None:
        """The row of the transaction that it belongs to, None where rows tell none or not which."""
        return known(self.model.parts.owner[self.number])

    @property
    def is_disputed(self) -> bool:
        """Whether it may belong to more than one transaction."""
        return bool(self.model.parts.owner[self.number] == DISPUTED)

    @cached_property
    def id(self) -> str | None:
        """The transactional.id that had the producer id."""
        return self.model.transactional_id(self._id_code) if self._id_code >= 0 else None

    @cached_property
    def _id_code(self) -> int:
        return self.model.owner_of_producer(self.producer_id)

    @cached_property
    def latest(self) -> Array | None:
        """The latest row of that id."""
        return self.model.latest_of(self._id_code) if self._id_code >= 0 else None

    @property
    def is_two_phase(self) -> bool:
        """Whether the coordinator never ends it by itself: another system decides, and it may rightly wait for days."""
        return self.latest is not None and bool(self.latest["timeout_ms"] == TWO_PHASE_TIMEOUT_MS)

    @property
    def latest_row(self) -> Refs:
        """The same, to be cited."""
        return (latest_row(self.latest),) if self.latest is not None else ()

    @property
    def data(self) -> OffsetRange:
        """Where it lies."""
        return offsets(self.model, self.span)

    @property
    def written(self) -> Refs:
        """A batch of it, to be cited."""
        return (data_ref(self.model, self.span),)

    def columns(self) -> SpanColumns:
        """Return the columns that place a case about it."""
        epoch = int(self.span["producer_epoch"])
        return SpanColumns(producer_id=self.producer_id, producer_epoch=epoch, **columns_of(self.data))


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
