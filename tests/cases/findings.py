"""Everything that findings say, over every case by each kind of evidence, and where two such files differ.

    python -m tests.cases.findings write OUT.json [--case NAME]... [--kind KIND]... [--cases FOLDER]...
    python -m tests.cases.findings compare BEFORE.json AFTER.json [--without RULE]...

For changes that must not change a word: write a file before, one after, compare them. Paths are those inside a case,
so files of two checkouts compare. `KIND` is disk, logs, text or all, and of what a person has in hand: dump (the dump
tool's text alone), client and broker (logs of one side), page (a text of fixtures/pages).
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from kafkatx import __version__
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.cases.judging import evidence_of
from tests.evidence import FIXTURES, cases

KINDS = ("disk", "logs", "text", "all", "dump", "client", "broker", "page")
FINDING = (
    "id", "rule", "verdict", "severity", "cluster_id", "transactional_id", "producer_id", "producer_epoch", "topic",
    "partition", "first_offset", "last_offset", "from", "to", "count", "subjects", "summary", "actors", "steps",
    "evidence", "against", "considered", "caused_by", "contributing", "remedies",
)  # fmt: skip
"""What is compared of a finding: all that the first schema of the document has."""
MOST_SHOWN = 160


def inputs(case: Path, kind: str) -> list[Path]:
    """Paths of a case that are one kind of evidence; none where it has nothing of the kind."""
    if kind == "page":
        return [case] if case.is_file() else []
    if case.is_file():
        return []
    if kind in ("disk", "logs", "text", "all"):
        return [path for path in evidence_of(case, kind) if path.exists()]
    if kind == "dump":
        return [path for path in (case / "kafka-dump-log",) if path.exists()]
    logs = sorted((case / "logs").glob("*"))
    return [path for path in logs if path.name.startswith("broker") == (kind == "broker")]


def said(case: Path, kind: str) -> dict[str, Any] | None:
    """What is said of one kind of evidence of a case; None where there is nothing of it."""
    paths = inputs(case, kind)
    if not paths:
        return None
    home = case.parent if case.is_file() else case
    os.chdir(home)
    try:
        told = document(diagnose([path.relative_to(home) for path in paths]), __version__)
    except NothingReadableError as error:
        return {"refused": str(error)}
    findings = [{name: finding[name] for name in FINDING} for finding in told["findings"]]
    return {"findings": findings, "not_checkable": told["not_checkable"], "damage": told["damage"]}


def all_said(chosen: list[Path], kinds: list[str]) -> dict[str, Any]:
    """What is said of all cases, by `case/kind`, on two processes."""
    work = [(case, kind) for case in chosen for kind in kinds]
    with ProcessPoolExecutor(2) as pool:
        found = pool.map(said, *zip(*work, strict=True))
        return {f"{case.name}/{kind}": one for (case, kind), one in zip(work, found, strict=True) if one is not None}


def without(told: dict[str, Any], rules: list[str]) -> dict[str, Any]:
    """Leave out what some rules say."""
    for one in told.values():
        for name in one.keys() & {"findings", "not_checkable"}:
            one[name] = [entry for entry in one[name] if entry["rule"] not in rules]
    return told


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """One line for each thing that is not the same: place in the document, then what it was and is."""
    for name in sorted(before.keys() & after.keys()):
        yield from _differ(name, before[name], after[name])
    yield from (f"{name}: only before" for name in sorted(before.keys() - after.keys()))
    yield from (f"{name}: only after" for name in sorted(after.keys() - before.keys()))


def _differ(where: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _differ(f"{where}.{key}", one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list):
        yield from _lists_differ(where, one, other)
    elif one != other:
        yield f"{where}: {_short(one)} -> {_short(other)}"


def _lists_differ(where: str, one: list[Any], other: list[Any]) -> Iterator[str]:
    """Findings are held against each other by their ids, all else by its place."""
    if any(isinstance(item, dict) and "rule" in item and "id" in item for item in [*one, *other]):
        first, second = ({item["id"]: item for item in items} for items in (one, other))
        for name in dict.fromkeys([*first, *second]):
            title = (first.get(name) or second[name])["rule"]
            if name in first and name in second:
                yield from _differ(f"{where}[{title} {name}]", first[name], second[name])
            else:
                yield f"{where}[{title} {name}]: only {'before' if name in first else 'after'}"
        if first.keys() == second.keys() and list(first) != list(second):
            yield f"{where}: another order"
        return
    for at in range(max(len(one), len(other))):
        yield from _differ(f"{where}[{at}]", one[at] if at < len(one) else None, other[at] if at < len(other) else None)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."


def main() -> int:
    """Write or compare; exit code 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write")
    write.add_argument("out", type=Path)
    write.add_argument("--case", action="append", default=[])
    write.add_argument("--kind", action="append", default=[], choices=KINDS)
    write.add_argument("--cases", action="append", default=[], type=Path)
    compare = commands.add_parser("compare")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--without", action="append", default=[], help="a rule that is left out, a new one say")
    args = parser.parse_args()
    if args.command == "write":
        known = [path.parent.resolve() for folder in args.cases for path in sorted(folder.glob("*/case.json"))]
        known = known or [*cases(), *sorted((FIXTURES / "pages").glob("*.md"))]
        chosen = [case for case in known if not args.case or case.name in args.case]
        out = args.out.resolve()
        out.write_text(json.dumps(all_said(chosen, args.kind or list(KINDS)), indent=1))
        return 0
    before, after = (without(json.loads(path.read_text()), args.without) for path in (args.before, args.after))
    found = list(differences(before, after))
    for line in found:
        print(line)
    print(f"{len(found)} differences", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
