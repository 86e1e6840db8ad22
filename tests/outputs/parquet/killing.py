"""An export that is killed at each of its steps on the disk, in processes of their own; run by test_killed.py.

    python -m tests.outputs.parquet.killing FOLDER

For each step of a new export, of one over another and of one more run: make FOLDER/KIND-N/tables, killed by SIGKILL
right before the step, and print one JSON line: what was asked of the disk there, how the process ended, what lay
there then, and what after the same export was run again.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from kafkatx.outputs.parquet.export import export
from kafkatx.outputs.parquet.runs import SortRoom
from kafkatx.stages.export_manifest import SUCCESS
from tests.outputs.parquet.small import COUNTS, LETTERS, counts, letters, recipe

STEPS = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"}
TINY = SortRoom(held=200, block=60, merged=120, block_rows=3)


BATCHES = {"counts": [counts([n, -n]) for n in range(9)], "letters": [letters(("b", 1)), letters(("a", None))]}
OLD = [counts([7])]
"""Made before any process is forked: Arrow imports much for a list."""


def write(target: Path, overwrite: bool) -> None:
    """Make an export with sorted runs, several batches and two tables, or replace another by it, or add it."""
    of = recipe(COUNTS, LETTERS)
    export(target, [COUNTS, LETTERS], lambda name: iter(BATCHES[name]), of, room=TINY, overwrite=overwrite)


def write_old(target: Path) -> None:
    """Make the export that is to be replaced."""
    export(target, [COUNTS], lambda name: iter(OLD), recipe(COUNTS))


def stopped_before(step: int, target: Path) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook that kills this process before the given step on the disk below the target's parent.

    Folders are emptied by names without a path.
    """
    count = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        place = str(arguments[0]) if arguments else ""
        if event in STEPS and (place.startswith(str(target.parent)) or not place.startswith("/")):
            count += 1
            if count == step:
                os.write(1, f"{event} {Path(place).name}\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


def in_a_process(work: Callable[[], None]) -> tuple[int, str]:
    """Run something in a fork of this process, which has no threads yet; return its status and what it printed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        work()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as printed:
        text = printed.read()
    return os.waitpid(child, 0)[1], text.strip()


def state(target: Path) -> dict[str, object]:
    """What lies at the target and beside it: SUCCESS or not, and a digest of the rest."""
    files = {str(p.relative_to(target)): p.read_bytes().hex() for p in target.rglob("*") if p.is_file()}
    beside = sorted(path.name for path in target.parent.iterdir() if path != target)
    return {"succeeded": SUCCESS in files, "files": {n: d for n, d in files.items() if n != SUCCESS}, "beside": beside}


def killed_and_run_again(step: int, folder: Path, kind: str) -> bool:
    """Print the line of one step; False where the export came to its end before it."""
    target = folder / f"{kind}-{step}" / "tables"
    target.parent.mkdir(parents=True)
    if kind != "new":
        in_a_process(lambda: write_old(target))

    def work() -> None:
        sys.addaudithook(stopped_before(step, target))
        write(target, kind == "over")

    status, killed_at = in_a_process(work)
    found = state(target)
    again, _ = in_a_process(lambda: write(target, kind == "over"))
    line = {"at": killed_at, "status": status, "found": found, "again": again, "at_last": state(target)}
    print(json.dumps({"kind": kind, **line}))
    return status != 0


if __name__ == "__main__":
    for kind in ("new", "over", "more"):
        number = 1
        while killed_and_run_again(number, Path(sys.argv[1]), kind):
            number += 1
