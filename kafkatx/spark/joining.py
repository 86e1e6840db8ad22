"""Between stages two and three: spans meet the intervals of the coordinator at the partition that both are about.

Grain: one data partition of a capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from kafkatx.stages.blocks import packed, unpacked
from kafkatx.stages.facts import Fact, Rank, facts_of, record_batches
from kafkatx.stages.joining import Intervals, joined


def joined_facts(batches: Iterable[Any]) -> Iterator[Any]:
    """Join the partitions whose facts come in RecordBatches of FACTS; all but the intervals passes.

    Yields RecordBatches of FACTS.
    """
    subjects = groupby(facts_of(batches), key=lambda fact: fact.subject)
    return record_batches(fact for _, facts in subjects for fact in _subject(facts))


def _subject(facts: Iterator[Fact]) -> Iterator[Fact]:
    story: Fact | None = None
    found: list[Intervals] = []
    for fact in facts:
        if fact.rank is Rank.INTERVALS:
            found.append(unpacked(fact.payload))
            continue
        story = fact if fact.rank is Rank.STORY else story
        yield fact
    if found and story is not None:
        yield Fact(story.capture, story.number, Rank.JOINED, packed(joined(unpacked(story.payload), found)))
