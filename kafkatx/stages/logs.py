"""Logs and settings of a capture: read text by text, each by itself (evidence/log_reading.py), united in one order.

`united_logs` numbers through what each text calls by numbers of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.item import LOG_KINDS, Item
from kafkatx.evidence.log_reading import FileFacts, read_log
from kafkatx.stages.facts import FactsError
from kafkatx.terms.progress import Progress
from kafkatx.text.events import LogFacts
from kafkatx.text.logs.strings import CODE_COLUMNS
from kafkatx.text.logs.union import LogUnion

Read = Callable[[Item], FileFacts]
"""Reads a log, or hands over what was read of it before."""


def read_logs(capture: Capture, progress: Progress, read: Read = read_log) -> tuple[LogFacts, list[Coverage]]:
    """Read every log and every file of settings of a capture, by `read`.

    Returns what they say, and their coverage. One is held at a time.
    """
    coverage: list[Coverage] = []
    return united_logs(_read_each(capture, progress, read, coverage)), coverage


def _read_each(capture: Capture, progress: Progress, read: Read, coverage: list[Coverage]) -> Iterator[FileFacts]:
    for item in log_items(capture):
        progress(item.path, item.size)
        found = read(item).within(capture)
        coverage.append(found.coverage)
        yield found


def log_items(capture: Capture) -> list[Item]:
    """Logs and files of settings of a capture, in the order in which they are united."""
    return sorted(capture.texts(*LOG_KINDS), key=lambda item: item.order)


def united_logs(parts: Iterable[FileFacts]) -> LogFacts:
    """Unite what texts say, each read by itself, in the order given.

    Sources, strings and traces are numbered as if one reader had read all; the parts stay as they are.
    """
    union = LogUnion()
    for part in parts:
        union.add(part.facts)
    return union.facts()


def checked(read: FileFacts) -> FileFacts:
    """Facts of a log whose numbers are those of its own strings, traces and sources; raises FactsError for others."""
    facts = read.facts
    limits = {**dict.fromkeys(CODE_COLUMNS, len(facts.strings)), "trace_code": len(facts.traces)}
    for name, limit in {**limits, "source": len(facts.sources)}.items():
        codes, lowest = facts.events[name], 0 if name == "source" else -1
        if len(codes) and not lowest <= int(codes.min()) <= int(codes.max()) < limit:
            raise FactsError(f"not a fact: {name} is none of {limit}")
    return read


def newest_time(facts: LogFacts) -> int:
    """Newest printed time of any log, -1 where none is printed."""
    return max((source.last_at for source in facts.sources), default=-1)
