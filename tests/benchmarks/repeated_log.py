"""Writes a log of any size by repeating a recorded one; the same arguments always give the same bytes.

    python -m tests.benchmarks.repeated_log flink FILE --size-mib 20

Each repetition is a minute later than the one before ended, so that what repeats is what a program does again and
again: its starts, its clients, its failures. Ids, epochs and offsets come back as they are.
"""

import argparse
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

from tests.evidence import FIXTURES

KINDS = {
    "quiet": "k39-healthy/logs/broker-1/server.log",
    "busy": "k39-unstable-id/logs/broker-1/server.log",
    "client": "c3-storm/logs/client-transfers-restarted.log",
    "flink": "f-flink-sink/logs/client-hourly.log",
}
"""A healthy broker, one with fenced clients, a Java client at DEBUG, a Flink job; each as it was recorded."""
APART = timedelta(minutes=1)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?=[,.]\d{3})")


def write(path: Path, size_bytes: int, kind: str) -> Path:
    """Write whole repetitions, at least `size_bytes` of them."""
    pieces = _TIME.split((FIXTURES / KINDS[kind]).read_text().rstrip("\n") + "\n")
    times = [datetime.fromisoformat(time) for time in pieces[1::2]]
    step = max(times) - min(times) + APART
    written = 0
    with path.open("wb") as file:
        for number in count():
            written += file.write("".join(_shifted(pieces, times, number * step)).encode())
            if written >= size_bytes:
                return path
    return path


def _shifted(pieces: list[str], times: list[datetime], by: timedelta) -> Iterator[str]:
    for text, time in zip(pieces[::2], times, strict=False):
        yield text
        yield str(time + by)
    yield pieces[-1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=tuple(KINDS))
    parser.add_argument("file", type=Path)
    parser.add_argument("--size-mib", type=int, default=20)
    chosen = parser.parse_args()
    print(write(chosen.file, chosen.size_mib << 20, chosen.kind))
