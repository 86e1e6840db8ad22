"""Stage three begins: the stories of a capture's partitions and its logs are gathered, joined and told.

Grain: one capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.log_reading import FileFacts
from kafkatx.stages.blocks import unpacked
from kafkatx.stages.codec import decode
from kafkatx.stages.fact_types import FactsError
from kafkatx.stages.facts import Fact, Rank
from kafkatx.stages.joining import Joined
from kafkatx.stages.logs import united_logs
from kafkatx.stages.partitions import PartitionStory
from kafkatx.stages.stories import CaptureStory, Telling, told
from kafkatx.text.logs.strings import CODE_COLUMNS

ORDER_OF_CAPTURES = ("capture", "rank", "number", "at", "file", "begin", "piece")


def stories(facts: Iterable[Fact], telling: Telling, is_joined: bool = False) -> Iterator[tuple[int, CaptureStory]]:
    """Tell the story of each capture, with its number.

    `facts` are what comes of the partitions, capture by capture: first the capture, then partitions and logs, each in
    order; `is_joined`: what partitions of data and the coordinator's intervals come to is among them.
    """
    for number, of_capture in groupby(facts, key=lambda fact: fact.capture):
        yield number, _story(of_capture, telling, is_joined)


def _story(facts: Iterator[Fact], telling: Telling, is_joined: bool) -> CaptureStory:
    first = next(facts)
    if first.rank is not Rank.PLAN:
        raise FactsError("facts are missing: of a capture itself")
    capture: Capture = decode(first.payload, Capture)
    partitions: list[PartitionStory] = []
    covered: list[Coverage] = []
    parts: list[Joined] = []

    def logs() -> Iterator[FileFacts]:
        for fact in facts:
            if fact.rank is Rank.STORY:
                partitions.append(unpacked(fact.payload))
            elif fact.rank is Rank.JOINED:
                parts.append(unpacked(fact.payload))
            elif fact.rank is not Rank.INTERVALS:
                read = _checked(decode(fact.payload, FileFacts)).within(capture)
                covered.append(read.coverage)
                yield read

    said = united_logs(logs())
    return told(capture, partitions, said, covered, telling, parts if is_joined else None)


def _checked(read: FileFacts) -> FileFacts:
    """Facts of a log whose numbers are those of its own strings, traces and sources; raises FactsError for others."""
    facts = read.facts
    limits = {**dict.fromkeys(CODE_COLUMNS, len(facts.strings)), "trace_code": len(facts.traces)}
    for name, limit in {**limits, "source": len(facts.sources)}.items():
        codes, lowest = facts.events[name], 0 if name == "source" else -1
        if len(codes) and not lowest <= int(codes.min()) <= int(codes.max()) < limit:
            raise FactsError(f"not a fact: {name} is none of {limit}")
    return read
