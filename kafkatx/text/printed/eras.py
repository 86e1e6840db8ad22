"""Line shapes of kafka-dump-log by release: which fields stand in a line, in which order (eras.tsv).

The release of the tool decides, not the one that wrote the log. A shape is recognised by its fields alone; a line whose
fields are others (left out, in another order, of a release to come) is still read, field by field (dump_lines.py).

Options  deep: with --deep-iteration (or what implies it: --print-data-log, a decoder); shallow: without it; any.
Source   DumpLogSegments.scala / .java (0.11 to 4.3), and what those releases printed of recorded logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from kafkatx.terms.packaged import packaged_text
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex


class LineKind(StrEnum):
    """What a line of a log's dump tells."""

    BATCH = "batch"
    MESSAGE = "message"
    RECORD = "record"
    FLAT_RECORD = "flat record"


TIMESTAMP = "TIMESTAMP"
"""Stands for the field whose key is the type of the timestamp: `CreateTime: 1`, `LogAppendTime: 1`."""
NUMBER = r"{}: (-?\d{{1,19}})"
PATTERNS = {
    TIMESTAMP: r"(CreateTime|LogAppendTime|NoTimestampType): (-?\d{1,19})",
    "isTransactional": r"isTransactional: (true|false)",
    "isControl": r"isControl: (true|false)",
    "isvalid": r"isvalid: (true|false)",
    "isValid": r"isValid: (true|false)",
    "compresscodec": r"compresscodec: (\w+)",
    "compressType": r"compressType: (\w+)",
    "deleteHorizonMs": r"deleteHorizonMs: OptionalLong(?:\.empty|\[(-?\d{1,19})\])",
    "crc": r"crc: (\d{1,10}|null)",
    "headerKeys": r"headerKeys: \[",
}
"""Fields that are no plain numbers. `headerKeys` opens what may hold anything: the tail of a line begins there."""

STRAY_BRACE = r"\}?(?= |$)"
"""Up to 4.2 a brace stands behind the fields of a message of magic 0 or 1."""


@dataclass(frozen=True, slots=True)
class DumpLineShape:
    """One shape of line: since which release of the tool, up to which, and with which options it is printed.

    `until` is empty while it is still printed. `at` says which group of `pattern` a field is; `bracket` is what
    the text behind the fields lacks to look like the end of `headerKeys: [...]`.
    """

    kind: LineKind
    since: str
    until: str
    options: str
    fields: tuple[str, ...]
    at: dict[str, int]
    pattern: re.Pattern[str]
    bracket: str


def _shape(kind: LineKind, since: str, until: str, options: str, fields: str) -> DumpLineShape:
    keys = tuple(fields.split())
    begin = r"\| " if kind is LineKind.RECORD else ""
    end = "$" if kind in (LineKind.BATCH, LineKind.MESSAGE) else "" if "headerKeys" in keys else STRAY_BRACE
    names: list[str] = []
    for key in keys:
        names += ["timestampType", "timestamp"] if key == TIMESTAMP else [key] * (key != "headerKeys")
    pattern = regex(begin + " ".join(PATTERNS.get(key, NUMBER.format(key)) for key in keys) + end)
    at = {name: number for number, name in enumerate(names)}
    return DumpLineShape(kind, since, until, options, keys, at, pattern, "" if "headerKeys" in keys else "]")


def _shapes() -> Iterator[DumpLineShape]:
    lines = packaged_text(__package__, "eras.tsv").splitlines()
    for kind, since, until, options, fields in (line.split("\t") for line in lines[1:]):
        yield _shape(LineKind(kind), since, until, options, fields)


SHAPES = tuple(_shapes())
"""All shapes, newest first. Those with `crc` and without `sequence` are of messages of magic 0 and 1."""
