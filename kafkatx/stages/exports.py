"""Exports as evidence: the table `facts` of folders that `kafkatx export` wrote is diagnosed instead of the files.

Release   facts are of one release: another one reads other things of the files, or the same ones otherwise.
Captures  those of several exports stay what they are; what belongs together must have been exported together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from kafkatx.evidence.captures import Capture, place_in_order
from kafkatx.evidence.coverage import Coverage
from kafkatx.stages.codec import decode
from kafkatx.stages.export_folders import fact_files, of_another_layout
from kafkatx.stages.fact_files import FactGroup, find, groups, opened, payloads
from kafkatx.stages.fact_types import FactsHead
from kafkatx.stages.facts import LAYOUT, NO_CAPTURE, OF_CAPTURE, FactKind, FactsError
from kafkatx.terms.errors import UsageError


@dataclass(frozen=True, slots=True)
class Export:
    """An export: its folder, the files of its facts, and for each of its captures the number among all captures."""

    path: str
    files: tuple[str, ...]
    numbers: tuple[int, ...] = ()

    def groups(self) -> Iterator[FactGroup]:
        """Yield what can be read by itself, in order."""
        for path in self.files:
            with opened(path) as file:
                count = len(groups(file))
            yield from (FactGroup(path, group, self.numbers) for group in range(count))

    def content(self, capture: int, number: int, rank: FactKind) -> bytes:
        """Return the only fact of a subject that is of a rank; raises FactsError."""
        rows = sorted(find(self.files, capture, number, rank), key=lambda row: row.piece)
        if not rows or any((row.at, row.file, row.begin) != (0, 0, 0) for row in rows):
            raise FactsError(f"{self.path}: facts are missing")
        return b"".join(payloads(row.path, row.group)[row.row].as_py() for row in rows)


@dataclass(frozen=True, slots=True)
class Exports:
    """Exports that are diagnosed together, and the files that belong to no capture."""

    exports: tuple[Export, ...]
    others: list[Coverage]


def open_exports(paths: Iterable[Path], verify_all: bool = False, forced: dict[str, str] | None = None) -> Exports:
    """Open exports; raises UsageError for what can't be diagnosed of them, with the way out."""
    if forced:
        raise UsageError("--capture says what files belong to: give it to kafkatx export, which has read them")
    found = [_open(path.absolute(), verify_all) for path in dict.fromkeys(paths)]
    captures = [(at, number, one) for at, (_, _, known) in enumerate(found) for number, one in enumerate(known)]
    captures.sort(key=lambda entry: place_in_order(entry[2]))
    _check_names([(found[at][0], one) for at, _, one in captures])
    places = {(at, number): place for place, (at, number, _) in enumerate(captures)}
    exports = (
        Export(one.path, one.files, tuple(places[at, number] for number in range(len(known))))
        for at, (one, _, known) in enumerate(found)
    )
    return Exports(tuple(exports), [*chain.from_iterable(head.others for _, head, _ in found)])


def _open(path: Path, verify_all: bool) -> tuple[Export, FactsHead, list[Capture]]:
    export = Export(str(path), tuple(str(path / name) for name in fact_files(path)))
    head: FactsHead = decode(export.content(NO_CAPTURE, OF_CAPTURE, FactKind.PLAN), FactsHead)
    if head.layout != LAYOUT:
        raise UsageError(of_another_layout(path, head.kafkatx, head.layout))
    if verify_all and not head.verify_all:
        raise UsageError(f"{path} was exported without --verify: the CRC of every batch can't be checked any more")
    return export, head, [decode(export.content(at, OF_CAPTURE, FactKind.PLAN), Capture) for at in range(head.captures)]


def _check_names(captures: list[tuple[Export, Capture]]) -> None:
    """Captures of one name are evidence of one cluster, or the same evidence: they would have to be joined."""
    seen: dict[str, Export] = {}
    for export, capture in captures:
        other = seen.setdefault(capture.name, export)
        if other is not export:
            raise UsageError(
                f"{other.path} and {export.path} both hold evidence of capture {capture.name}; export it in one call"
            )
