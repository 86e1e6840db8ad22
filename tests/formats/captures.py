"""Files of recorded cases that the tests of formats read."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.evidence import cases


def broker_files(pattern: str) -> Iterator[Path]:
    """Yield the files of all brokers of all cases whose path below `broker-N/` matches a glob pattern, by name."""
    for case in cases():
        yield from sorted(path for path in case.glob(f"broker-*/{pattern}") if path.is_file())


def transaction_state_logs() -> Iterator[Path]:
    """Yield the segments of `__transaction_state`, also those already marked as deleted."""
    yield from broker_files("__transaction_state-*/*.log")
    yield from broker_files("__transaction_state-*/*.log.deleted")


def dumped(pattern: str) -> Iterator[tuple[Path, list[str]]]:
    """Yield (file, lines that the release's own kafka-dump-log printed of it) for the files that have such a text."""
    for path in broker_files(pattern):
        case, below = path.parents[2], path.relative_to(path.parents[2])
        text = case / "kafka-dump-log" / f"{below}.txt"
        if text.exists():
            yield path, text.read_text(encoding="utf-8", errors="replace").splitlines()


def fields_of(line: str) -> dict[str, str]:
    """Return the `name: value` pairs of a line of kafka-dump-log; of repeated names the first."""
    found: dict[str, str] = {}
    for name, value in re.findall(r"(\w+): ?(\S+)", line):
        found.setdefault(name, value)
    return found
