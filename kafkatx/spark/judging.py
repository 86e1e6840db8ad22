"""Stage three, on the executors: the stories of a capture's partitions and its logs, joined, told and judged.

Grain: one capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage
from kafkatx.rules.diagnosis import Diagnosis, Selection
from kafkatx.spark.conform import conform
from kafkatx.stages.blocks import packed, unpacked
from kafkatx.stages.facts import Fact, Rank, facts_of, record_batches
from kafkatx.stages.joining import Joined
from kafkatx.stages.judging import diagnosed
from kafkatx.stages.logs import FileFacts, united_logs
from kafkatx.stages.partitions import PartitionStory
from kafkatx.stages.stories import CaptureStory, Telling, told
from kafkatx.stages.table_stories import evidence_table, finding_table, transaction_table
from kafkatx.tables.catalogue import TABLES


def judged(batches: Iterable[Any], telling: Telling, selection: Selection) -> Iterator[Any]:
    """Judge the captures whose facts come in RecordBatches of FACTS, in order of (capture, rank, number).

    Yields RecordBatches of FACTS, a CaptureDiagnosis for each.
    """
    return record_batches(
        Fact(number, 0, Rank.STORY, packed(diagnosed(story, selection))) for number, story in stories(batches, telling)
    )


def stories(batches: Iterable[Any], telling: Telling) -> Iterator[tuple[int, CaptureStory]]:
    """Tell the story of each capture."""
    for number, facts in groupby(facts_of(batches, ORDER_OF_CAPTURES), key=lambda fact: fact.capture):
        yield number, _story(facts, telling)


ORDER_OF_CAPTURES = ("capture", "rank", "number", "at", "file", "begin", "piece")


def _story(facts: Iterator[Fact], telling: Telling) -> CaptureStory:
    capture: Capture = unpacked(next(facts).payload)
    partitions: list[PartitionStory] = []
    covered: list[Coverage] = []
    parts: list[Joined] = []

    def logs() -> Iterator[FileFacts]:
        for fact in facts:
            content = unpacked(fact.payload)
            if fact.rank is Rank.STORY:
                partitions.append(content)
            elif fact.rank is Rank.JOINED:
                parts.append(content)
            else:
                covered.append(content.coverage)
                yield content

    said = united_logs(logs())
    return told(capture, partitions, said, covered, telling, parts)


def rows(batches: Iterable[Any], table: str, telling: Telling) -> Iterator[Any]:
    """Yield the rows of a table of TOLD for the captures whose facts come, as RecordBatches of its schema."""
    schema = TABLES[table].schema
    for _, story in stories(batches, telling):
        yield from (conform(batch, schema) for batch in TOLD[table](story))


def _findings(story: CaptureStory) -> Iterator[Any]:
    return finding_table(Diagnosis(diagnosed(story, Selection()).findings))


def _evidence(story: CaptureStory) -> Iterator[Any]:
    return evidence_table(Diagnosis(diagnosed(story, Selection()).findings))


TOLD: dict[str, Callable[[CaptureStory], Iterator[Any]]] = {
    "transactions": lambda story: transaction_table([story]),
    "findings": _findings,
    "evidence": _evidence,
}
"""Tables that need the whole story of a capture."""
