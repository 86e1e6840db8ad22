"""What the tests of readers share: a log read to plain values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafkatx.kernels.engine import forced
from kafkatx.sources.files import OpenFile
from kafkatx.text.events import LogFacts, LogSource, Setting
from kafkatx.text.logs.reading import read_log
from kafkatx.text.pages.part import PartKind, TextPart

Event = Mapping[str, Any]


def read(path: Path, position: int = 0, line: int = 1) -> tuple[list[Event], LogSource, list[Setting]]:
    """Events with strings and traces in place of codes, the source, and the settings."""
    facts = read_facts(path, position, line)
    return plain_events(facts), facts.sources[0], facts.settings


def read_facts(path: Path, position: int = 0, line: int = 1) -> LogFacts:
    """What a file says, as it is read."""
    with OpenFile(str(path)) as file:
        return read_log(file, TextPart(PartKind.LOG, position, file.size, line))


def plain_events(facts: LogFacts) -> list[Event]:
    """Events with strings and traces in place of codes."""
    found = []
    for event in facts.events:
        values = {name: event[name].item() for name in facts.events.dtype.names}
        for name, code in values.items():
            if name == "trace_code":
                values[name] = facts.traces[code] if code >= 0 else None
            elif name.endswith("_code"):
                values[name] = facts.strings[code] if code >= 0 else None
        found.append({name.removesuffix("_code"): value for name, value in values.items()})
    return found


def both(path: Path) -> tuple[list[Event], list[Event]]:
    """Events as each path reads them, after a look at all else: codes are given alike too."""
    with forced("interpreted"):
        slow = read_facts(path)
    with forced("compiled"):
        fast = read_facts(path)
    assert (fast.sources, fast.settings) == (slow.sources, slow.settings)
    assert (fast.strings, fast.traces) == (slow.strings, slow.traces)
    return plain_events(slow), plain_events(fast)


def read_text(folder: Path, text: str | bytes, name: str = "server.log") -> list[Event]:
    """Events of a text."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path)[0]
