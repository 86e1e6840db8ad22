"""Exports that somebody changed: bits of their facts, their manifest, rows lost, repeated or of another kind.

What stands in a trial: `case`, `change` (op and values), `honest` (the manifest names the digest of what was made, as
an attacker would write it; else only bits changed, and a diagnosis that differs is a failure).
"""

from __future__ import annotations

import atexit
import json
import random
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafkatx import __version__
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.stages.export_manifest import MANIFEST
from kafkatx.stages.fact_batches import FACTS
from kafkatx.stages.parquet_parts import DEFAULT_SIZES
from kafkatx.terms.errors import KafkatxError
from tests.evidence import broker_folders
from tests.exports import attest, exported
from tests.fuzz.mutations import act, mutated
from tests.fuzz.oracle import Trial, case_named, drawn_from, failed
from tests.fuzz.watching import again

KINDS = ("bits", "bits", "manifest", "payload", "payload", "tree", "tree", "tree", "cell", "lost", "twice", "swapped")
CELLS = tuple(name for name in FACTS.names if name != "payload")
NUMBERS = (0, 1, -1, 2, 7, 255, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), 1 << 70)
LEAVES = (None, True, -1, 0, 1, 1 << 40, 1 << 70, 1.5, "", "x", ["l"], ["d"], ["b", 0], ["t", 1, 2])


@cache
def _made(name: str) -> tuple[Path, list[dict[str, Any]]]:
    """An honest export of a case's directories and dumps of client logs, and what it says."""
    home = Path(mkdtemp())
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    case = case_named(name)
    evidence = [*broker_folders(case), *sorted((case / "logs").glob("client*"))]
    target = exported(evidence, home / "export", DEFAULT_SIZES)
    return target, _findings(target)


def _findings(target: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(diagnose([target]), __version__)["findings"]
    return found


def drawn(seed: int, collection: bool = False) -> Trial:
    """Return the trial of a seed."""
    lot = random.Random(seed)
    kind = lot.choice(KINDS)
    return {
        "case": lot.choice(drawn_from(collection)),
        "kind": kind,
        "row": lot.randrange(1 << 20),
        "values": [lot.randrange(1 << 30) for _ in range(4)],
        "acts": [act(lot, 1 << 20, []) for _ in range(lot.choice((1, 2)))],
        "honest": kind == "bits" and lot.random() < 0.8,
    }


def faults(trial: Trial, folder: Path) -> Iterator[str]:
    """Say what went wrong with a trial, in a folder of its own."""
    again()
    made, whole = _made(trial["case"])
    target = shutil.copytree(made, folder / "export")
    _change(trial, target)
    again()
    try:
        found = _findings(target)
    except KafkatxError:
        return
    except Exception as error:
        yield failed(error)
        return
    if trial["honest"] and _told(found) != _told(whole):
        yield "bits changed, and another diagnosis came of it without a word"


def _told(findings: list[dict[str, Any]]) -> str:
    return json.dumps(findings, sort_keys=True)


def _change(trial: Trial, target: Path) -> None:
    (path,) = sorted((target / "facts").glob("*.parquet"))
    if trial["kind"] == "bits":
        data = bytearray(path.read_bytes())
        data[trial["values"][0] % len(data)] ^= 1 << trial["values"][1] % 8
        path.write_bytes(data)
    elif trial["kind"] == "manifest":
        manifest = target / MANIFEST
        manifest.write_bytes(mutated(manifest.read_bytes(), trial["acts"]))
        return
    else:
        rows = _rows(trial, pq.read_table(path).to_pylist())
        try:
            pq.write_table(pa.Table.from_pylist(rows, FACTS), path)
        except (pa.ArrowException, OverflowError):
            return  # nobody can write it either
    if not trial["honest"]:
        attest(target)


def _rows(trial: Trial, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    at, (one, two, three, four) = trial["row"] % len(rows), trial["values"]
    row = rows[at]
    match trial["kind"]:
        case "payload":
            row = {**row, "payload": mutated(row["payload"], trial["acts"])}
        case "tree":
            row = {**row, "payload": _with_other_tree(row["payload"], trial["values"])}
        case "cell":
            name = CELLS[one % len(CELLS)]
            row = {**row, name: NUMBERS[two % len(NUMBERS)] if three % 2 else row[name] + four % 3 - 1}
        case "lost":
            return [*rows[:at], *rows[at + 1 + one % 3 :]]
        case "twice":
            return [*rows[: at + 1], row, *rows[at + 1 :]]
        case "swapped":
            other = rows[one % len(rows)]
            row = {**row, "payload": other["payload"]}
    return [*rows[:at], row, *rows[at + 1 :]]


def _with_other_tree(payload: bytes, values: list[int]) -> bytes:
    """A fact whose tree says something else at one place: a leaf, a length, a name, a member too many."""
    size = int.from_bytes(payload[:8], "little")
    plain = bytes(pa.Codec("zstd").decompress(payload[8:], size))
    end = 4 + int.from_bytes(plain[:4], "little")
    tree = json.loads(plain[4:end])
    places = list(_places(tree))
    if places:
        holder, at = places[values[0] % len(places)]
        if values[3] % 4 == 0:
            del holder[at]
        elif values[3] % 4 == 1 and isinstance(holder[at], int):
            holder[at] += (-1, 1, 1 << 33)[values[1] % 3]
        elif values[3] % 4 == 2:
            other, there = places[values[1] % len(places)]
            holder[at] = other[there] if not isinstance(other[there], list) else None
        else:
            holder[at] = LEAVES[values[2] % len(LEAVES)]
    text = json.dumps(tree).encode()
    plain = len(text).to_bytes(4, "little") + text + plain[end:]
    return len(plain).to_bytes(8, "little") + bytes(pa.Codec("zstd", 1).compress(plain, asbytes=True))


def _places(tree: Any) -> Iterator[tuple[list[Any], int]]:
    """Every member of every list of a tree."""
    open_lists = [tree]
    while open_lists:
        one = open_lists.pop()
        for at, member in enumerate(one):
            yield one, at
            if isinstance(member, list):
                open_lists.append(member)
