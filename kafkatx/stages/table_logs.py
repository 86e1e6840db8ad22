"""Streams of the tables that logs and settings yield, file by file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkatx.evidence.item import Kind
from kafkatx.sources.files import OpenFile
from kafkatx.stages.table_files import Batches, Source, opened
from kafkatx.tables.columns import STRING
from kafkatx.tables.log_events import log_events
from kafkatx.terms.events import Side
from kafkatx.text.events import LogFacts
from kafkatx.text.logs.reading import read_log

LONGEST_TEXT = 4096
"""Bytes of a line that the table shows."""


def event_table(found: Iterable[Source]) -> Batches:
    """Stream `log_events`."""
    for source in found:
        if source.item.kind is Kind.TEXT_LOG and not source.item.left_out:
            with opened(source) as file:
                yield from _events(source, file) if file else ()


def _events(source: Source, file: OpenFile) -> Iterator[Any]:
    facts = read_log(file, source.item.part) if source.item.part else LogFacts()
    common = source.common()
    del common["topic"], common["partition"]
    if len(facts.events):
        side = Side(int(facts.events["side"][0])).name
        roots = [trace.root.exception for trace in facts.traces]
        clock = {**common, "clock": f"the {side}'s, in the zone of its log"}
        yield log_events(facts.events, facts.strings, roots, _texts(file, facts.events), clock)


def _texts(file: OpenFile, rows: Any) -> Any:
    """The lines at which events begin."""
    lines = []
    for position in rows["position"].tolist():
        line, _, _ = file.read(position, LONGEST_TEXT).partition(b"\n")
        lines.append(line.rstrip(b"\r").decode("utf-8", "replace"))
    return pa.array(lines, STRING)
