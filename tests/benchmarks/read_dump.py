"""Reads a dump's text to rows and tells how many lines that were a CPU second, start-up left out.

python -m tests.benchmarks.read_dump FILE             as the product does
python -m tests.benchmarks.read_dump FILE --by-lines  line by line alone
"""

import sys
import time

from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.batches import batch_chunks
from kafkatx.text.dump.states import state_chunks
from kafkatx.text.pages.part import PartKind
from kafkatx.text.pages.parts import parts
from kafkatx.text.printed import runs


def main(path: str, *, by_lines: bool) -> None:
    """Print lines, rows and CPU seconds."""
    if by_lines:
        runs.are_worth_it = lambda size: False
    began, rows = time.process_time(), 0
    with OpenFile(path) as file:
        for part in parts(file):
            if part.kind is PartKind.DUMP_LOG and part.topic == "__transaction_state":
                rows += sum(len(states) for _, states in state_chunks(file, part, Names()))
            elif part.kind is PartKind.DUMP_LOG:
                rows += sum(map(len, batch_chunks(file, part)))
        seconds = time.process_time() - began
        lines = sum(file.read(at, 1 << 22).count(b"\n") for at in range(0, file.size, 1 << 22))
    print(lines, rows, seconds)


if __name__ == "__main__":
    main(sys.argv[1], by_lines="--by-lines" in sys.argv[2:])
