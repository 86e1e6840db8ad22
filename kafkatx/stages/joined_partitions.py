"""Stage three: partitions of data joined to the coordinator's intervals, as facts come; all others pass.

Grain: one data partition of a capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from kafkatx.kernels.growing import Array
from kafkatx.stages.counting import said
from kafkatx.stages.facts import CaptureFact, FactKind
from kafkatx.stages.joining import Intervals, Joined, handed, joined
from kafkatx.stages.partitions import PartitionStory
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class JoinedStory:
    """A partition of data, and what it has of the transactions that list it; None: none does.

    `alone` are numbers of its spans that no row owns and that may be counted (stages/counting.py).
    """

    story: PartitionStory
    joined: Joined | None
    alone: Array


def joined_partitions(facts: Iterable[CaptureFact]) -> Iterator[CaptureFact]:
    """Join the partitions whose models and intervals come together, in order; what is about no data passes."""
    for _, of_subject in groupby(facts, key=lambda fact: fact.subject):
        yield from _joined_subject(of_subject)


def _joined_subject(facts: Iterator[CaptureFact]) -> Iterator[CaptureFact]:
    model: CaptureFact | None = None
    found: list[Intervals] = []
    for fact in facts:
        if fact.rank is FactKind.INTERVALS:
            found.append(fact.says(Intervals))
        elif fact.rank is FactKind.SPANS:
            model = fact
        else:
            yield fact
    if model is not None:
        yield from _joined(model, found)


def _joined(model: CaptureFact, found: list[Intervals]) -> Iterator[CaptureFact]:
    story = model.says(PartitionStory)
    given = handed(found) if found else None
    found.clear()  # its transactions are in one table now
    parts = joined(story, given) if given is not None else None
    told, alone = said(story, given, parts)
    yield CaptureFact(model.capture, model.number, FactKind.SAID, (story.key, told))
    yield CaptureFact(model.capture, model.number, FactKind.JOINED, JoinedStory(story, parts, alone))
