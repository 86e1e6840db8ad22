"""A log as a table: its events, each with the line that it begins at."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafkatx.segments.batches import NO_LIMIT
from kafkatx.sources.files import OpenFile
from kafkatx.stages.table_files import Batches, Source
from kafkatx.tables.columns import STRING
from kafkatx.tables.log_events import log_events
from kafkatx.terms.events import Side
from kafkatx.terms.secrets import without_secrets
from kafkatx.text.events import LogFacts
from kafkatx.text.logs.reading import read_log

LONGEST_TEXT = 4096
"""Bytes of a line that the table shows."""


def events_of(source: Source, begin: int = 0, end: int = NO_LIMIT) -> Batches:
    """Stream `log_events` of a file, those whose lines begin in [begin, end)."""
    with source.opened() as file:
        facts = read_log(file, source.item.part) if file and source.item.part else LogFacts()
        if file and len(facts.events):
            side = Side(int(facts.events["side"][0])).name
            roots = [trace.root.exception for trace in facts.traces]
            clock = {**source.common("topic", "partition"), "clock": f"the {side}'s, in the zone of its log"}
            texts = _texts(file, facts.events)
            told = {**clock, "occurrence": _occurrences(facts.events["at"].tolist(), texts)}
            places = facts.events["position"]
            found = log_events(facts.events, facts.strings, roots, pa.array(texts, STRING), told)
            yield found.filter(pa.array((places >= begin) & (places < end)))


def _texts(file: OpenFile, rows: Any) -> list[str]:
    """The lines at which events begin."""
    lines = []
    for position in rows["position"].tolist():
        line, _, _ = file.read(position, LONGEST_TEXT).partition(b"\n")
        lines.append(without_secrets(line.rstrip(b"\r").decode("utf-8", "replace")))
    return lines


def _occurrences(times: list[int], texts: list[str]) -> list[int | None]:
    """How many equal lines of the same time stand above each; None where no time is printed."""
    seen: dict[tuple[int, str], int] = {}
    found: list[int | None] = []
    for line in zip(times, texts, strict=True):
        found.append(None if line[0] < 0 else seen.get(line, 0))
        seen[line] = seen.get(line, 0) + 1
    return found
