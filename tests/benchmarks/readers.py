"""Readers of segments in process, one thread: kafka-protocol (Rust), franz-go (Go), aiokafka (Cython), and ours.

    KAFKATX_BENCH_CODECS_MIB   the segment without compression (770)

Each reads every record's key, value, timestamp, offset and headers, and checks each batch's CRC, over the file's bytes
in memory; ours makes Arrow columns of them, theirs make an object of each. All print the same sum over the fields, or
the comparison fails. The others are built once under $KAFKATX_BENCH_HOME from the sources in tests/benchmarks/peers;
where a tool for that is missing the table says so.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from tests.benchmarks import cases, measure, peer
from tests.benchmarks.comparisons import Figure
from tests.benchmarks.measure import CommandFailed

SOURCES = Path(__file__).parent / "peers"
PASSES = 3
RUST, GO, AIOKAFKA = "kafka-protocol 0.18.0 (Rust)", "franz-go 1.22.3 (Go)", "aiokafka 0.14.0 (Cython)"
WANTED = {"none": 4.0, "lz4": 1.8, "zstd": 1.5, "snappy": 1.3}
"""How many times as fast as the best of Rust and Go, by codec."""
TIMES_AIOKAFKA = 10.0
"""Of the segment without compression."""
CRC_OF_READ_BOUND = 0.8


def readers() -> Iterator[Figure]:
    """Records a CPU second of each reader, ours against the best of the others."""
    missing = [f"{name}: {made}" for name in OTHERS if isinstance(made := _command(name), str)]
    yield from (Figure(f"readers: {reason}", "skipped", "", "") for reason in missing)
    for codec, wanted in WANTED.items():
        yield from _of_codec(codec, cases.codec_log(codec), wanted)
    yield crc()


def versions() -> str:
    """What the others are built with: the compilers of Rust and Go."""
    told = (_told(["rustc", "--version"]), _told(["go", "version"]))
    return ", ".join(line for line in told if line)


def _told(command: list[str]) -> str:
    """The first line that a tool prints, nothing where it is not there."""
    if shutil.which(command[0]) is None:
        return ""
    said = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return said[0] if said else ""


def crc() -> Figure:
    """CRC-32C of memory against reading it."""
    told = measure.output([sys.executable, "-m", "tests.benchmarks.crc_rate"]).split()
    ours, bound = float(told[0]), float(told[1])
    what = "CRC-32C of 256 MiB in memory, against reading them"
    relation = f"{ours / bound:.2f} of it"
    holds = ours / bound >= CRC_OF_READ_BOUND
    return Figure(what, f"{ours:.1f} GB/s", f"{bound:.1f} GB/s", relation, f">= {CRC_OF_READ_BOUND}", holds)


def _of_codec(codec: str, log: Path, wanted: float) -> Iterator[Figure]:
    """Ours beside each of the others, in turn, so that a busy moment hits all."""
    commands = {name: made for name in OTHERS if not isinstance(made := _command(name), str)}
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in commands}
    records, sums = 0, set()
    for _ in range(cases.runs()):
        for name, command in [("", OURS), *commands.items()]:
            for used, read, total in _passes(command, log):
                (theirs[name] if name else ours).append(used)
                records = read
                sums.add((read, total))
    if len(sums) != 1:
        raise CommandFailed(f"readers of {log} don't read the same: {sums}")
    best = min((min(used) for name, used in theirs.items() if name != AIOKAFKA), default=None)
    what = f"records of {log.stat().st_size / 2**20:.0f} MiB, {codec}"
    for name, used in theirs.items():
        times = min(used) / min(ours)
        limit = TIMES_AIOKAFKA if name == AIOKAFKA and codec == "none" else wanted if min(used) == best else None
        told = (f">= {limit}", times >= limit) if limit else ("", None)
        yield Figure(f"{what}, {name}", _rate(records, ours), _rate(records, used), f"{times:.1f} times", *told)


def _rate(records: int, used: list[float]) -> str:
    return f"{records / min(used) / 1e6:.1f} M records a CPU s"


def _passes(command: list[str], log: Path) -> Iterator[tuple[float, int, int]]:
    for line in measure.output([*command, str(log), str(PASSES)]).splitlines():
        used, records, total = line.split()
        yield float(used), int(records), int(total)


OURS = [sys.executable, "-m", "tests.benchmarks.peers.our_reader"]


@cache
def _command(name: str) -> list[str] | str:
    """The command of a reader, built where it is not yet; or why there is none."""
    tool, build = OTHERS[name]
    if shutil.which(tool) is None:
        return f"no {tool} here"
    try:
        return build(peer.home() / "readers")
    except (subprocess.CalledProcessError, OSError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        return f"not built: {said[-1] if said else error}"


def _rust(home: Path) -> list[str]:
    folder = _fresh(home / "rust")
    (folder / "src").mkdir(exist_ok=True)
    shutil.copyfile(SOURCES / "rust/main.rs", folder / "src/main.rs")
    shutil.copyfile(SOURCES / "rust/Cargo.toml", folder / "Cargo.toml")
    _run(["cargo", "build", "--release", "--quiet"], folder)
    return [str(folder / "target/release/reader")]


def _go(home: Path) -> list[str]:
    folder = _fresh(home / "go")
    for name in ("main.go", "go.mod", "go.sum"):
        shutil.copyfile(SOURCES / "go" / name, folder / name)
    _run(["go", "build", "-o", "reader", "."], folder)
    return ["env", "GOMAXPROCS=1", str(folder / "reader")]


def _aiokafka(home: Path) -> list[str]:
    folder = _fresh(home / "aiokafka")
    python, made = folder / "bin/python", folder / "made"
    if not made.exists():  # what broke off before would be broken for good
        _run([sys.executable, "-m", "venv", "--clear", "."], folder)
        _run([str(python), "-m", "pip", "install", "--quiet", "aiokafka==0.14.0", "cramjam==2.14.0"], folder)
        made.touch()
    return [str(python), str(SOURCES / "aiokafka_reader.py")]


def _fresh(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, env=dict(os.environ))


OTHERS: dict[str, tuple[str, Callable[[Path], list[str]]]] = {
    RUST: ("cargo", _rust),
    GO: ("go", _go),
    AIOKAFKA: (sys.executable, _aiokafka),
}
"""What must be there to build each, and how that is done."""
