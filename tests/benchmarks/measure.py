"""What a command costs, whole process: CPU seconds, wall seconds, peak anonymous memory.

CPU is user and system time of the child and of the children it waited for (wait4): start-up and compiling count.
Memory is the highest sum of RssAnon over the process and its descendants, polled every few milliseconds; it leaves out
mapped and cached file pages. Where there is no /proc the maximum resident set of the child stands in for it.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage

REPOSITORY = Path(__file__).parents[2]
POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of one run of a command; of several runs see `cheapest`."""

    cpu_s: float
    wall_s: float
    peak_bytes: int


class CommandFailed(Exception):
    """The measured command did not end with 0, so its figures mean nothing."""


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Usage:
    """Run a command from the repository's root, output to nowhere; raises CommandFailed unless it exits with 0."""
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        child = subprocess.Popen(
            command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, **(environment or {})}
        )
        peak, status, usage = _wait(child.pid)
        wall_s = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            raise CommandFailed(
                f"exit code {child.returncode}: {' '.join(command)[:500]}\n{errors.read()[-2000:].decode()}"
            )
    return Usage(usage.ru_utime + usage.ru_stime, wall_s, peak or _max_resident(usage))


def output(command: Sequence[str]) -> str:
    """What a command prints; raises CommandFailed unless it exits with 0."""
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    if done.returncode:
        raise CommandFailed(f"exit code {done.returncode}: {' '.join(command)[:500]}\n{done.stderr[-2000:]}")
    return done.stdout


def alternately(commands: Sequence[Sequence[str]], runs: int) -> list[Usage]:
    """Run the commands in turn, `runs` times over, so that a busy moment hits all; the cheapest usage of each."""
    usages = [[run(command) for command in commands] for _ in range(runs)]
    return [cheapest(column) for column in zip(*usages, strict=True)]


def cheapest(usages: Sequence[Usage]) -> Usage:
    """Least CPU, least wall time, but the highest peak."""
    return Usage(min(u.cpu_s for u in usages), min(u.wall_s for u in usages), max(u.peak_bytes for u in usages))


def kafkatx(*arguments: str) -> list[str]:
    """The command line of this checkout."""
    return [sys.executable, "-m", "kafkatx", *arguments]


def diagnose(place: Path) -> list[str]:
    """The command that is measured everywhere, of a directory or a file."""
    return kafkatx("diagnose", str(place), "--format", "json", "--quiet")


def read_log(log: Path) -> list[str]:
    """The command that reads a log to events."""
    return [sys.executable, "-m", "tests.benchmarks.read_log", str(log)]


def grep(literals: Path, log: Path) -> list[str]:
    """The command that counts the lines with one of some literals (with /dev/null for output it would stop at one)."""
    return ["sh", "-c", 'grep -cFf "$0" "$1" | cat', str(literals), str(log)]


def python_pass(log: Path) -> list[str]:
    """The command that counts the lines with one word in Python: what it costs there to have each line in hand."""
    return [
        sys.executable,
        "-c",
        "import sys; print(sum(b'xception' in line for line in open(sys.argv[1], 'rb')))",
        str(log),
    ]


def _wait(pid: int) -> tuple[int, int, struct_rusage]:
    peak = 0
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return peak, status, usage
        peak = max(peak, sum(_anonymous(each) for each in family(pid)))
        time.sleep(POLL_S)


def family(pid: int) -> Iterator[int]:
    """The process and its living descendants; only itself where /proc does not tell."""
    yield pid
    try:
        threads = [*Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # the process ended meanwhile
        return
    for file in threads:
        try:
            children = file.read_text().split()
        except OSError:  # the thread ended meanwhile
            continue
        for child in children:
            yield from family(int(child))


def _anonymous(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # ended meanwhile, or no /proc
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:"))


def _max_resident(usage: struct_rusage) -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return int(usage.ru_maxrss) * unit


if __name__ == "__main__":
    print(run(sys.argv[1:]))
