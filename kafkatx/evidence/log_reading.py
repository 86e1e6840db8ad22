"""One log or one file of settings read: what it says, and its coverage.

A text may be read anywhere and before anybody knows which capture it belongs to, since nothing of its reading depends
on others. Memory is bounded by the events that are kept of a text (text/logs/thinning.py).

The readers of texts are imported when there is a text: they cost as much as the diagnosis of a small directory.
"""

from __future__ import annotations

from dataclasses import replace

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.item import Item, Kind
from kafkatx.kernels.distinct import distinct
from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import Side
from kafkatx.terms.records import dataclass
from kafkatx.text.events import LogFacts, LogSource
from kafkatx.text.lines import lines
from kafkatx.text.pages.part import PartKind, TextPart

HEAD = 1 << 16
"""Bytes of a log that tell whose it is."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What one text says, numbered from 0 by itself, and its coverage; it can be pickled."""

    facts: LogFacts
    coverage: Coverage

    def ids(self) -> frozenset[str]:
        """Transactional.ids that it names."""
        codes = distinct(self.facts.events["transactional_id_code"])
        of_events = (self.facts.strings[code] for code in codes[codes >= 0].tolist())
        of_settings = (one.value for one in self.facts.settings if one.name == "transactional.id" and one.value)
        return frozenset((*of_events, *of_settings))

    def within(self, capture: Capture) -> FileFacts:
        """Return the same, as evidence of a capture."""
        return replace(self, coverage=replace(self.coverage, capture=capture.name, cluster_id=capture.cluster_id))


def read_log(item: Item) -> FileFacts:
    """Read one log or one file of settings, or a part of a text that is one; one that can't be read says nothing."""
    entry, facts = coverage_of(None, item, None), LogFacts()
    try:
        with OpenFile(item.path) as file:
            if item.part is not None:
                facts = _read(file, item, item.part, entry)
    except OSError as error:
        entry.status, entry.note = "unreadable", error.strerror
    return FileFacts(facts, entry)


def _read(file: OpenFile, item: Item, part: TextPart, entry: Coverage) -> LogFacts:
    if item.kind is Kind.SETTINGS:
        from kafkatx.text.settings.files import settings_of_file

        found = settings_of_file(lines(file, part.position, part.end, part.line), 0)
        entry.status, entry.note = "read", f"{len(found)} settings"
        return LogFacts([_silent_source(item)], settings=found)
    if item.kind is Kind.ANSWERS:
        from kafkatx.text.tools.answers import answers

        facts = answers(file, part)
        entry.status, entry.note = "read", f"answers of tools: {_counted(len(facts.events), 'fact')} about transactions"
        return facts
    from kafkatx.text.logs.reading import read_log as read_part

    facts = read_part(file, part)
    if part.kind is PartKind.WORDS:
        entry.status, entry.note = "read", "words about errors; no line of a program"
        return facts
    _tell(entry, facts.sources[0], len(facts.events) + int(facts.events["repeats"].clip(0).sum()))
    from kafkatx.text.products import product_of

    if (product := product_of(file.read(part.position, min(HEAD, part.end - part.position)))) is not None:
        entry.note = f"{entry.note}; of {product}, not of Kafka: read as far as it holds Kafka's facts"
    return facts


def _silent_source(item: Item) -> LogSource:
    """A file of settings as a source: it has places but no events."""
    return LogSource(item.path, Side.unknown, 0, item.size, -1, -1, True, None, -1, "")


def _tell(entry: Coverage, source: LogSource, events: int) -> None:
    zone = "" if source.is_zoned or source.first_at < 0 else "; times without a zone"
    entry.status, entry.broker_id = "read", source.broker_id
    entry.first_timestamp = source.first_at if source.first_at >= 0 else None
    entry.last_timestamp = source.last_at if source.last_at >= 0 else None
    whose = "" if source.side is Side.unknown else f" of a {source.side.name}"
    matter = f"{events:,} of them matter" if events else "nothing of transactions or of clients in it"
    entry.note = f"log{whose}: {_counted(source.lines, 'line')}, {matter}{zone}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
