"""Mutated files: one file of a case with some bytes changed, alone in its folder, through the commands.

What stands in a trial: `case`, `file`, `acts` (op, place, size, value), `commands`, `sealed` (the CRCs of its batches
are made to hold again: what is then read is what nobody wrote, so only commands that fail are failures).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import google_crc32c

from tests.cases.commands import fresh_folder, run
from tests.fuzz.oracle import Finding, Trial, case_named, drawn_from, false_claims
from tests.fuzz.watching import again

LARGEST_TEXT = 1 << 15
"""Bytes that a mutated text is cut to: seven commands read it."""
HEADER = 61
NUMBERS = (0, 1, -1, 127, 128, 255, 1 << 15, (1 << 15) - 1, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 62, 1 << 63)
SIZES = (1, 1, 2, 4, 8, 8, 16, 61, 64, 300, 1_024, 4_096)
COMMANDS = ("collect", "diagnose", "dump", "export", "history", "locate", "verify")
"""All that read evidence: of each file a diagnosis, and three of them by lot."""
ENDINGS = {0: "done", 1: "damage", 2: "usage", 3: "nothing readable"}

Op = Callable[[bytearray, int, int, int], None]
Act = list[str | int]


def _flip(data: bytearray, at: int, size: int, value: int) -> None:
    data[at] ^= 1 << value % 8


def _put(data: bytearray, at: int, size: int, value: int) -> None:
    wide = (1, 2, 4, 8)[size % 4]
    data[at : at + wide] = (value % (1 << 8 * wide)).to_bytes(wide, "big")


def _zero(data: bytearray, at: int, size: int, value: int) -> None:
    data[at : at + size] = bytes(min(size, len(data) - at))


def _noise(data: bytearray, at: int, size: int, value: int) -> None:
    data[at : at + size] = random.Random(value).randbytes(min(size, len(data) - at))


def _lose(data: bytearray, at: int, size: int, value: int) -> None:
    del data[at : at + size]


def _insert(data: bytearray, at: int, size: int, value: int) -> None:
    data[at:at] = random.Random(value).randbytes(size)


def _repeat(data: bytearray, at: int, size: int, value: int) -> None:
    data[at:at] = data[at : at + size] * (1 + value % 3)


def _head(data: bytearray, at: int, size: int, value: int) -> None:
    del data[:at]


def _tail(data: bytearray, at: int, size: int, value: int) -> None:
    del data[at:]


def _torn(data: bytearray, at: int, size: int, value: int) -> None:
    data[at:] = bytes(len(data) - at)


def _preallocated(data: bytearray, at: int, size: int, value: int) -> None:
    data += bytes(size * 64)


def _move(data: bytearray, at: int, size: int, value: int) -> None:
    piece = data[at : at + size]
    del data[at : at + size]
    to = value % (len(data) + 1)
    data[to:to] = piece


OPS: dict[str, Op] = {
    "flip": _flip, "put": _put, "zero": _zero, "noise": _noise, "lose": _lose, "insert": _insert, "repeat": _repeat,
    "head": _head, "tail": _tail, "torn": _torn, "preallocated": _preallocated, "move": _move,
}  # fmt: skip


@cache
def _files(name: str) -> dict[str, tuple[Path, ...]]:
    """Files of a case by how their names end, so that rare kinds are drawn as often as common ones."""
    found: dict[str, list[Path]] = {}
    for path in sorted(path for path in case_named(name).rglob("*") if path.is_file() and path.stat().st_size):
        if path.name != "case.json":
            kind = "text" if path.suffix == ".txt" else path.suffix or path.name
            found.setdefault("log" if kind == ".log" and "broker-" in path.parts[-3] else f"a {kind}", []).append(path)
    return {kind: tuple(paths) for kind, paths in found.items()}


def drawn(seed: int, collection: bool = False) -> Trial:
    """Return the trial of a seed."""
    lot = random.Random(seed)
    case = lot.choice(drawn_from(collection))
    kinds = _files(case)
    kind = "log" if "log" in kinds and lot.random() < 0.5 else lot.choice(sorted(kinds))
    file = lot.choice(kinds[kind])
    size = min(file.stat().st_size, LARGEST_TEXT if kind in ("a text", "a .log") else 1 << 30)
    starts = _batch_starts(file.read_bytes()) if kind == "log" else []
    acts = [act(lot, size, starts) for _ in range(lot.choice((1, 1, 2, 3, 8)))]
    sealed = kind == "log" and lot.random() < 0.3
    place = str(file.relative_to(case_named(case)))
    return {"case": case, "file": place, "acts": acts, "sealed": sealed, "commands": lot.sample(COMMANDS, 3)}


def act(lot: random.Random, size: int, starts: list[int], ops: tuple[str, ...] = ()) -> Act:
    """Draw an act on a file of a size; where its batches start, half of the acts fall on their headers."""
    at = lot.randrange(size)
    if starts and lot.random() < 0.5:
        at = min(size - 1, lot.choice(starts) + lot.randrange(HEADER + 20))
    value = lot.choice(NUMBERS) if lot.random() < 0.5 else lot.getrandbits(64)
    return [lot.choice(ops or sorted(OPS)), at, lot.choice(SIZES), value]


def _batch_starts(data: bytes | bytearray) -> list[int]:
    found, at = [], 0
    while at + HEADER <= len(data):
        found.append(at)
        size = int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
        if size <= 0:
            break
        at += 12 + size
    return found


def mutated(data: bytes, acts: list[Act], sealed: bool = False) -> bytes:
    """Return what some acts make of bytes."""
    left = bytearray(data)
    for op, at, size, value in acts:
        if left:
            OPS[str(op)](left, int(at) % len(left), int(size), int(value))
    for at in _batch_starts(left) if sealed else ():
        end = at + 12 + int.from_bytes(left[at + 8 : at + 12], "big", signed=True)
        if end <= len(left) and left[at + 16] == 2:
            left[at + 17 : at + 21] = google_crc32c.value(bytes(left[at + 21 : end])).to_bytes(4, "big")
    return bytes(left)


def calls(path: Path, place: str, commands: list[str]) -> Iterator[list[str]]:
    """Yield a call of `diagnose`, then one of each command."""
    given, out = str(path), str(fresh_folder())
    yield ["diagnose", given, "--json"]
    for command in commands:
        yield {
            "diagnose": ["diagnose", given, "--verify"],
            "history": ["history", given, "--all"],
            "locate": ["locate", given, place, "--show-payloads"],
            "dump": ["dump", given],
            "verify": ["verify", given, "--records", "--json"],
            "collect": ["collect", given, "--json"],
            "export": ["export", given, "--out", out],
        }[command]
    if (Path(out) / "_SUCCESS").exists():
        yield ["diagnose", out, "--json"]


def faults(trial: Trial, folder: Path) -> Iterator[str]:
    """Say what went wrong with a trial, in a folder of its own."""
    source = case_named(trial["case"]) / trial["file"]
    data = source.read_bytes()
    if source.suffix == ".txt" or "logs" in Path(trial["file"]).parts:
        data = data[:LARGEST_TEXT]
    path = folder / trial["file"]
    path.parent.mkdir(parents=True)
    path.write_bytes(mutated(data, trial["acts"], trial["sealed"]))
    topic = path.parent.name if path.parent.name.rpartition("-")[2].isdigit() else "payments-0"
    said: list[list[Finding]] = []
    for words in calls(path, f"{topic}:{int(path.stem) if path.stem.isdigit() else 0}", trial["commands"]):
        again()
        ended = run("--debug", *words)
        if ended.code not in ENDINGS:
            yield f"{words[0]} ended with {ended.code}: {_last(ended.err)}"
        elif words[0] == "diagnose" and words[-1] == "--json" and ended.code == 0:
            said.append(json.loads(ended.out)["findings"])
    for found in said[:1] if trial["sealed"] else said:
        yield from () if trial["sealed"] else false_claims(trial["case"], found, traced=False)
    if len(said) == 2 and [one["id"] for one in said[0]] != [one["id"] for one in said[1]]:
        yield "the export tells other findings than the file"


def _last(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines()]
    places = [line.partition(", in ")[0].rpartition("/")[2] for line in lines if line.startswith("File ")]
    return f"{lines[-1][:200] if lines else ''} ({', '.join(places[-3:])})"
