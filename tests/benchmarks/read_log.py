"""Reads a log to events and says how many; a process of its own, so that its cost can be measured.

python -m tests.benchmarks.read_log FILE
python -m tests.benchmarks.read_log --literals FILE      writes the prefilter's literals, a line each, for grep -f
"""

import sys
from pathlib import Path

from kafkatx.sources.files import OpenFile
from kafkatx.text.logs.matching import prefilter
from kafkatx.text.logs.reading import read_log
from kafkatx.text.pages.part import PartKind, TextPart


def literals(path: Path) -> Path:
    """Write the literals that the prefilter looks for."""
    path.write_bytes(b"\n".join(prefilter().literals) + b"\n")
    return path


def count(path: str) -> int:
    """Events of a log, those that were counted instead of kept included."""
    with OpenFile(path) as file:
        events = read_log(file, TextPart(PartKind.LOG, 0, file.size, 1)).events
    return len(events) + int(events["repeats"].sum())


if __name__ == "__main__":
    if sys.argv[1] == "--literals":
        print(literals(Path(sys.argv[2])))
    else:
        print(count(sys.argv[1]))
