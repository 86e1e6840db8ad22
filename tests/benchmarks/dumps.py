"""What printing a dump costs beside the tool that prints the same lines, and what reading its text costs."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import cases, measure, peer
from tests.benchmarks.comparisons import Figure
from tests.benchmarks.measure import Usage

TIMES_CHEAPER = 2.0
LINES_A_SECOND = 500_000
SIZES_MIB = (16, 200)
OPTIONS: dict[str, list[str]] = {
    "shallow": [],
    "deep": ["--deep-iteration"],
    "with keys and values": ["--print-data-log"],
}


def dump_printing() -> Iterator[Figure]:
    """CPU of `kafkatx dump` and of the tool for the same lines."""
    for mib in SIZES_MIB:
        (log,) = [log for log in cases.logs(cases.ordinary_of(mib)) if log.parent.name == "orders-0"]
        for name, options in OPTIONS.items():
            yield _printing(f"ordinary {mib} MiB, {name}", log, options)
    data, state = _tiny()
    yield _printing("tiny, shallow", data, [])
    yield _printing("tiny, deep", data, ["--deep-iteration"])
    yield _printing("states of transactional.ids, decoded", state, ["--transaction-log-decoder"])


def dump_text() -> Iterator[Figure]:
    """Lines a CPU second that the text of a dump is read at, start-up left out, against reading it line by line."""
    data, state = _tiny()
    for name, log, options in (
        ("batches", data, []),
        ("batches and records", data, ["--deep-iteration"]),
        ("states of transactional.ids", state, ["--transaction-log-decoder"]),
    ):
        text = _text(log, options)
        fast, slow = (max(_lines_a_second(text, *how) for _ in range(cases.runs())) for how in ((), ("--by-lines",)))
        size = f"{text.stat().st_size / 2**20:.0f} MiB"
        yield Figure(
            f"text of a dump, {name}, {size}, lines a CPU second", f"{fast:,.0f}", f"{slow:,.0f}",
            f"{fast / slow:.1f} times", f">= {LINES_A_SECOND:,}", fast >= LINES_A_SECOND,
        )  # fmt: skip


def _tiny() -> tuple[Path, Path]:
    """The log of data and that of states of many small transactions."""
    directory = cases.tiny_of(cases.setting("DUMPED", 200_000))
    return next(directory.glob("orders-0/*.log")), next(directory.glob("__transaction_state-0/*.log"))


def _text(log: Path, options: list[str]) -> Path:
    """What our dump prints of a log, kept beside it: the tool's lines, as tests hold."""
    text = log.with_name(f"{'shallow' if not options else options[0].strip('-')}.txt")
    if not text.exists():
        with text.open("wb") as file:
            subprocess.run(_ours(log, options), stdout=file, check=True, cwd=measure.REPOSITORY)
    return text


def _lines_a_second(text: Path, *how: str) -> float:
    words = measure.output([sys.executable, "-m", "tests.benchmarks.read_dump", str(text), *how]).split()
    return int(words[0]) / float(words[2])


def _ours(log: Path, options: list[str]) -> list[str]:
    return measure.kafkatx("dump", "--quiet", "--files", str(log), *options)


def _printing(name: str, log: Path, options: list[str]) -> Figure:
    ours, other = measure.alternately([_ours(log, options), peer.dump_log([log], *options)], cases.runs())
    times = other.cpu_s / ours.cpu_s
    what, wanted = f"printing, {name}", f">= {TIMES_CHEAPER:.1f}"
    return Figure(what, _cost(ours), _cost(other), f"{times:.2f} times cheaper", wanted, times >= TIMES_CHEAPER)


def _cost(usage: Usage) -> str:
    return f"{usage.cpu_s:.2f} s CPU"
