"""Runs trials of a range of seeds, tells what fails, and records by commit what was tried.

The parent starts a child (`--child`), which runs trials one after the other inside itself and says before each which
one begins and behind each what was wrong. Where it ends without a word behind a trial, that trial is what ended it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from tests.evidence import ROOT
from tests.fuzz import guarding, watching
from tests.fuzz.kinds import KINDS, tried
from tests.fuzz.oracle import Trial

KNOWN = Path(__file__).with_name("known_failures.txt")
OPEN = Path(__file__).with_name("open_failures.txt")
LATE = "no answer in time"
SLICE = 50
"""Seeds between two lines of a record."""

AT_ONCE = 2_000
"""Trials that are drawn before they are run."""

Work = tuple[str, Trial]
Outcome = tuple[int, Work, list[str], float]
"""Number of a piece of work, what it is, what was wrong, and how many seconds it took."""


def drawn(kind: str, seeds: Iterable[int], collection: bool = False) -> Iterator[tuple[int, Work]]:
    """Yield seeds with what they are drawn into."""
    for seed in seeds:
        trial = KINDS[kind].drawn(seed, collection)
        if trial is not None:
            yield seed, (kind, trial)


def known(path: Path = KNOWN) -> list[Work]:
    """Every failure ever found and mended, or those that are open: a kind and a trial a line."""
    lines = (line for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return [(kind, json.loads(trial)) for kind, _, trial in (line.partition(" ") for line in lines)]


def outcomes(work: Iterable[tuple[int, Work]]) -> Iterator[Outcome]:
    """Run work in a child, and in another behind what has ended one."""
    source = iter(work)
    while left := dict(islice(source, AT_ONCE)):
        yield from _outcomes(left)


def _outcomes(left: dict[int, Work]) -> Iterator[Outcome]:
    while left:
        ended = yield from _of_a_child(left)
        if ended is not None:
            number, reason, seconds = ended
            work = left.pop(number)
            again = [] if not reason.startswith(LATE) else [*_once_more(number, work)]
            yield from again or [(number, work, [reason], seconds)]


def _once_more(number: int, work: Work) -> Iterator[Outcome]:
    """What was late once may have waited for others on a busy machine; nothing where it is late again."""
    ended = yield from _of_a_child({number: work})
    assert ended is None or ended[0] == number


def _of_a_child(left: dict[int, Work]) -> Iterator[Any]:
    """Yield outcomes, which are taken out of what is left; returns what ended the child, if anything did."""
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as given:
        given.write("".join(f"{json.dumps([number, *one])}\n" for number, one in left.items()))
        given.seek(0)
        command = [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.run", "--child"]
        child = subprocess.Popen(
            command, cwd=ROOT, stdin=given, stdout=subprocess.PIPE, stderr=errors, text=True, env=_environment()
        )
        begun, since = -1, time.monotonic()
        assert child.stdout is not None
        for number, faults, seconds in map(json.loads, child.stdout):
            if faults is None:
                begun, since = number, time.monotonic()
            else:
                yield number, left.pop(number), faults, seconds
                begun = -1
        code = child.wait()
        errors.seek(0)
        if begun < 0:
            if code:
                raise RuntimeError(f"the child of a fuzz ended with {code}: {errors.read()[-2_000:]}")
            return None
        return begun, _ended(code, errors.read()), time.monotonic() - since


def _ended(code: int, errors: str) -> str:
    places = [line.strip() for line in errors.splitlines() if line.strip().startswith("File ")]
    what = LATE if "Timeout" in errors else f"the process ended with {code}"
    return f"{what}: {' < '.join(places[:6])[:600]}"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "TZ": "HOUSE-05:45"}


def child() -> int:
    """Run the work that standard input names; ends by itself where it holds too much memory."""
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.fsync = lambda fd: None  # nobody cuts the power here, and a disk takes a tenth of the time
    watching.begin()
    with guarding.kernels():
        for number, kind, trial in map(json.loads, sys.stdin):
            print(json.dumps([number, None, 0]), file=told)
            began = time.monotonic()
            watching.again()
            faults = tried(kind, trial)
            if watching.highest_bytes() > watching.MOST_BYTES:
                faults.append(f"held {watching.highest_bytes() / 1e9:.2f} GB")
            watching.end()
            print(json.dumps([number, faults, time.monotonic() - began]), file=told)
            if watching.highest_bytes() > watching.MOST_BYTES:
                break
    return 0


def commit() -> str:
    """The commit that is tried; with a plus where files differ from it."""
    asked = ["git", "-C", str(ROOT)]
    head = subprocess.run([*asked, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    dirty = subprocess.run([*asked, "status", "--porcelain", "kafkatx"], capture_output=True, text=True, check=False)
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "")


def recorded(record: Path | None, kind: str, collection: bool) -> set[int]:
    """Seeds that a record has."""
    if record is None or not record.exists():
        return set()
    lines = map(json.loads, record.read_text().splitlines())
    of_kind = [line for line in lines if (line["kind"], line["collection"]) == (kind, collection)]
    return {seed for line in of_kind for first, end in line["seeds"] for seed in range(first, end)}


def ranges(seeds: list[int]) -> list[list[int]]:
    """Seeds as ranges, their ends exclusive."""
    found: list[list[int]] = []
    for seed in sorted(seeds):
        if found and found[-1][1] == seed:
            found[-1][1] = seed + 1
        else:
            found.append([seed, seed + 1])
    return found


def sliced(found: Iterable[Outcome]) -> Iterator[list[Outcome]]:
    """Outcomes by slices of a record."""
    held: list[Outcome] = []
    for one in found:
        held.append(one)
        if len(held) == SLICE:
            yield held
            held = []
    if held:
        yield held


def main() -> int:
    """Try what the command line asks for; 1 where anything failed."""
    options = _options()
    if options.child:
        return child()
    if options.guarded:
        os.environ[guarding.ASKED_BY] = "yes"
    if options.what in ("known", "open"):
        return _told(enumerate(known(KNOWN if options.what == "known" else OPEN)), options, options.what)
    if options.trial:
        return _told([(-1, (options.what, json.loads(options.trial)))], options, options.what)
    first, _, end = options.seeds.partition(":")
    seeds = range(int(first), int(end) if end else int(first) + 1)
    done = set() if options.again else recorded(options.record, options.what, options.collection)
    return _told(
        drawn(options.what, (seed for seed in seeds if seed not in done), options.collection), options, options.what
    )


def _told(work: Iterable[tuple[int, Work]], options: argparse.Namespace, kind: str) -> int:
    """Run work, print what fails and write the record; returns the exit code."""
    tries, failures, began = 0, 0, time.monotonic()
    head, slowest = commit(), 0.0
    for found in sliced(outcomes(work)):
        failed = [(number, one, faults) for number, one, faults, _ in found if faults]
        for number, (of, trial), faults in failed:
            print(f"{of} {number} {json.dumps(trial)}", *(f"    {fault}" for fault in faults), sep="\n", flush=True)
        tries, failures = tries + len(found), failures + len(failed)
        slowest = max(slowest, *(seconds for *_, seconds in found))
        line = {
            "kind": kind, "collection": options.collection, "commit": head,
            "seeds": ranges([number for number, *_ in found]), "seconds": round(sum(one[3] for one in found), 1),
            "failures": [[number, one[1], faults] for number, one, faults in failed],
        }  # fmt: skip
        if options.record is not None:
            with options.record.open("a") as file:
                file.write(f"{json.dumps(line)}\n")
    spent = time.monotonic() - began
    print(f"{kind}: {tries} tried at {head}, {failures} failed, {spent:.0f} s, the slowest {slowest:.1f} s", flush=True)
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("what", choices=[*KINDS, "known", "open"], nargs="?", default="known")
    parser.add_argument("--seeds", default="0:100", help="first and end (exclusive)")
    parser.add_argument("--record", type=Path, help="a file of lines that is appended to")
    parser.add_argument("--again", action="store_true", help="also what the record has")
    parser.add_argument("--collection", action="store_true", help="among all recorded cases at hand")
    parser.add_argument("--trial", help="one trial instead of seeds")
    parser.add_argument("--guarded", action="store_true", help="compiled kernels, over buffers that nobody may leave")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
