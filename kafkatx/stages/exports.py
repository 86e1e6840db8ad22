"""Exports as evidence: the table `facts` of folders that `kafkatx export` wrote is diagnosed instead of the files.

Runs      each run of an export is evidence by itself; captures of one name in several of them are united, also in
          several exports: their files are copies of the same partitions (stages/uniting.py).
Layout    what facts consist of has a number; a run of a layout that this release does not read is refused by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from kafkatx.evidence.captures import Capture, place_in_order
from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.item import Item
from kafkatx.evidence.log_reading import FileFacts
from kafkatx.sources import places
from kafkatx.stages.codec import decode
from kafkatx.stages.export_folders import RunOfExport, of_another_layout, runs_of
from kafkatx.stages.fact_files import FactGroup, find, groups, opened, payloads
from kafkatx.stages.fact_types import FactsHead
from kafkatx.stages.facts import NO_CAPTURE, OF_CAPTURE, READABLE, FactKind, FactsError
from kafkatx.stages.run_names import keys_of
from kafkatx.stages.tasks import numbering
from kafkatx.stages.uniting import CaptureOfRun, Renumbering, UnitedCapture, united_capture
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Export:
    """A run of an export: its folder, the files of its facts, and for each of its captures the number among all.

    Of captures that other runs have as well `united` has, by the number here, where their facts belong; `plans` are
    those of captures, by the number among all, of which this run is the newest.
    """

    path: str
    files: tuple[str, ...]
    numbers: tuple[int, ...] = ()
    united: tuple[tuple[int, Renumbering], ...] = ()
    plans: tuple[tuple[int, UnitedCapture], ...] = ()

    def tasks(self) -> Iterator[FactGroup]:
        """Yield what can be read anywhere: the row groups, and the plans of united captures that this run is given."""
        yield from self.groups()
        if self.plans:
            yield FactGroup("", 0, (), plans=self.plans)

    def groups(self) -> Iterator[FactGroup]:
        """Yield what can be read by itself, in order."""
        for path in self.files:
            with opened(path) as file:
                count = len(groups(file))
            yield from (FactGroup(path, group, self.numbers, self.united) for group in range(count))

    def content(self, capture: int, number: int, rank: FactKind) -> bytes:
        """Return the only fact of a subject that is of a rank; raises FactsError."""
        rows = sorted(find(self.files, capture, number, rank), key=lambda row: row.piece)
        if not rows or any((row.at, row.file, row.begin) != (0, 0, 0) for row in rows):
            raise FactsError(f"{self.path}: facts are missing")
        return b"".join(payloads(row.path, row.group)[row.row].as_py() for row in rows)

    def capture(self, number: int) -> Capture:
        """Return a capture as this run has it; raises FactsError."""
        found: Capture = decode(self.content(number, OF_CAPTURE, FactKind.PLAN), Capture)
        return found

    def log(self, capture: int, numbers: dict[str, tuple[int, int]], item: Item) -> FileFacts:
        """Return what was read of a log; `numbers` are those of the capture's files. Raises FactsError."""
        found: FileFacts = decode(self.content(capture, numbers[item.key][0], FactKind.LOG), FileFacts)
        return found


@dataclass(frozen=True, slots=True)
class Exports:
    """Runs of exports that are diagnosed together, captures that several of them have, and files of no capture.

    `united` has such captures by their numbers among all, with the runs that hold each, in order, as places in
    `exports` and the capture's number there.
    """

    exports: tuple[Export, ...]
    others: list[Coverage]
    united: tuple[tuple[int, UnitedCapture, tuple[tuple[int, int], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class _Opened:
    """A run, what its facts say first, its captures, and what its manifest says."""

    run: Export
    head: FactsHead
    captures: list[Capture]
    of: RunOfExport


def open_exports(
    paths: Iterable[str | Path], verify_all: bool = False, forced: dict[str, str] | None = None
) -> Exports:
    """Open exports; raises UsageError for what can't be diagnosed of them, with the way out."""
    if forced:
        raise UsageError("--capture says what files belong to: give it to kafkatx export, which has read them")
    runs = [(run, path) for path in sorted({places.absolute(str(path)) for path in paths}) for run in runs_of(path)]
    runs.sort(key=lambda entry: entry[0].exported_at)  # of the same time: as the manifest has them, the oldest first
    found = [_open(path, run, verify_all) for run, path in _once(runs)]
    holders: dict[str, list[tuple[int, int]]] = {}
    for at, one in enumerate(found):
        for number, capture in enumerate(one.captures):
            holders.setdefault(capture.name, []).append((at, number))
    united = {name: _united(found, held) for name, held in holders.items() if len(held) > 1}
    return _numbered(found, holders, united)


def _once(runs: list[tuple[RunOfExport, str]]) -> Iterator[tuple[RunOfExport, str]]:
    """The runs without those that another export has as well."""
    seen: set[str] = set()
    for run, path in runs:
        if run.run_id not in seen:
            seen.add(run.run_id)
            yield run, path


def _open(path: str, run: RunOfExport, verify_all: bool) -> _Opened:
    export = Export(path, tuple(places.joined(path, name) for name in run.files))
    head: FactsHead = decode(export.content(NO_CAPTURE, OF_CAPTURE, FactKind.PLAN), FactsHead)
    if head.layout not in READABLE:
        raise UsageError(of_another_layout(path, head.kafkatx, head.layout))
    if verify_all and not head.verify_all:
        raise UsageError(f"{path} was exported without --verify: the CRC of every batch can't be checked any more")
    captures = [export.capture(at) for at in range(head.captures)]
    return _Opened(export, head, captures, run)


def _united(found: list[_Opened], held: list[tuple[int, int]]) -> UnitedCapture:
    """Unite a capture that several runs hold."""
    parts = []
    for at, number in held:
        one, capture = found[at], found[at].captures[number]
        log = partial(one.run.log, number, numbering(capture))
        first = frozenset(keys_of(one.of.captures.get(capture.name, {}), "first"))
        parts.append(CaptureOfRun(capture, one.of.sums, log, first))
    return united_capture(parts, all(found[at].head.verify_all for at, _ in held))


def _numbered(
    found: list[_Opened], holders: dict[str, list[tuple[int, int]]], united: dict[str, UnitedCapture]
) -> Exports:
    """Number the captures in their order, and say of each run where its facts belong."""
    known = {
        name: united[name].capture if name in united else found[held[0][0]].captures[held[0][1]]
        for name, held in holders.items()
    }
    order = {name: number for number, name in enumerate(sorted(known, key=lambda name: place_in_order(known[name])))}
    belongs: dict[int, list[tuple[int, Renumbering]]] = {}
    for name, one in united.items():
        for (at, number), part in zip(holders[name], one.parts, strict=True):
            belongs.setdefault(at, []).append((number, part))
    exports = (
        replace(
            one.run,
            numbers=tuple(order[capture.name] for capture in one.captures),
            united=tuple(belongs.get(at, ())),
            plans=tuple((order[name], capture) for name, capture in united.items() if holders[name][-1][0] == at),
        )
        for at, one in enumerate(found)
    )
    others = [*chain.from_iterable(one.head.others for one in found)]
    return Exports(
        tuple(exports), others, tuple((order[name], one, tuple(holders[name])) for name, one in united.items())
    )
