"""Strands: what of a partition that lies in one folder one task reads, in order, and writes where it is read.

Strand     neighbouring segments, or a stretch of a large one. All strands of a partition together are its log.
In order   that rows of a strand ascend strictly the task sees that reads them. That strands do not reach into each
           other is seen when all have told their first and last offset: only then is each row the only one of its fact.
           Where it is not so, what was written of that partition does not count, and it is read once more, as blocks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, field
from itertools import groupby, pairwise
from typing import Any

from kafkatx.stages.divided_parts import Draft
from kafkatx.stages.facts import FactsError
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Strand:
    """One of so many strands of a partition of a capture."""

    partition: str
    number: int = 0
    of: int = 1


@dataclass(frozen=True, slots=True)
class StrandTold:
    """What was written of a strand's rows of one table: the files, and the offsets that they begin and end with.

    Without rows there are none, and both are -1; `ascends` is False where rows do not, and nothing was written.
    """

    table: str
    strand: Strand
    ascends: bool
    first: int = -1
    last: int = -1
    drafts: list[Draft] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows were written."""
        return sum(draft.rows for draft in self.drafts)

    def to_json(self) -> bytes:
        """Return it as what a stage may hold."""
        return json.dumps(asdict(self)).encode()


def strand_told(data: bytes) -> StrandTold:
    """Return what was told of a strand, from a stage; raises FactsError for bytes that are no such thing."""
    try:
        told: dict[str, Any] = json.loads(data)
        drafts = [Draft(**one) for one in told.pop("drafts")]
        return StrandTold(**{**told, "strand": Strand(**told["strand"]), "drafts": drafts})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FactsError(f"not a strand: {error}") from error


Place = tuple[str, str]
"""A table, and a partition of a capture."""


def not_in_order(told: Iterable[StrandTold]) -> Iterator[Place]:
    """Yield tables and partitions whose strands do not follow each other in ascending offsets."""
    for place, of_place in groupby(sorted(told, key=_number), key=_place):
        strands = [*of_place]
        ends = [(one.first, one.last) for one in strands if one.drafts]
        if not all(one.ascends for one in strands) or any(last >= first for (_, last), (first, _) in pairwise(ends)):
            yield place


def without(told: Iterable[StrandTold], places: Iterable[Place]) -> list[StrandTold]:
    """Return what was told of others than some tables and partitions."""
    left_out = {*places}
    return [one for one in told if _place(one) not in left_out]


def _place(one: StrandTold) -> Place:
    return one.table, one.strand.partition


def _number(one: StrandTold) -> tuple[str, Strand]:
    return one.table, one.strand
