"""All evidence of a call joined to captures: data directories, then what tools printed, then logs and settings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from kafkatx.evidence.belonging import (
    Sketch,
    Sketches,
    contradicts_segments,
    digest,
    ids_in_logs,
    ids_in_states,
    prepare_ids,
    sketches_of,
)
from kafkatx.evidence.captures import Capture, common_depth, forced_name, named
from kafkatx.evidence.clusters import captures
from kafkatx.evidence.directories import DataDirectory
from kafkatx.evidence.item import Item
from kafkatx.evidence.looking import Looker, LooksHere, read_log
from kafkatx.sources import places
from kafkatx.terms.records import dataclass

if TYPE_CHECKING:
    from kafkatx.evidence.log_reading import FileFacts


@dataclass(frozen=True, slots=True)
class JoinedEvidence:
    """All that was given: captures, and the files of which nothing says to which of several captures they belong.

    `log` reads a log, or hands over what was read of it to join it.
    """

    captures: list[Capture]
    others: list[Item]
    log: Callable[[Item], FileFacts] = read_log


def evidence(
    directories: Iterable[DataDirectory], forced: dict[str, str] | None = None, looker: Looker | None = None
) -> JoinedEvidence:
    """Join data directories to captures, and all other evidence to the one that it belongs to.

    What a tool printed of logs joins the only capture of the call, else the one that it shares transactional.ids with,
    else that of the nearest common folder, unless it contradicts it; without any data directory it is a capture
    itself. Logs and settings join likewise; where nothing says which capture they belong to, those of one place are a
    capture of their own. `forced` maps a path prefix to a capture's name (`--capture NAME=PATH`); `looker` looks into
    files, in this process unless it says otherwise.
    """
    given, looker = list(directories), looker or LooksHere()
    forced = {places.shown(path): name for path, name in (forced or {}).items()}
    found = captures((one for one in given if one.is_of_broker and not one.is_printed), forced, looker)
    found = _with_printed(Owners(found, forced, looker), given)
    alone = _without_owners(Owners(found, forced, looker), [one for one in given if not one.is_of_broker])
    used, rest = _divided(alone)
    of_logs = _captures_of_logs(used, forced, looker)
    return JoinedEvidence(named([*found, *of_logs]), [item for directory in rest for item in directory.items])


def _with_printed(owners: Owners, given: list[DataDirectory]) -> list[Capture]:
    """Captures with what tools printed: it joins one, or is one itself."""
    sketches = sketches_of(given, owners.looker)
    loose = [one for one in given if one.is_printed and not owners.take_printed(one, sketches)]
    return named([*owners.captures, *_captures_of_printed(loose, sketches, owners.forced, owners.looker)])


def _without_owners(owners: Owners, strangers: list[DataDirectory]) -> list[DataDirectory]:
    """Hand directories of logs and settings to the captures that they belong to; the others are returned."""
    owners.prepare(strangers)
    alone: list[DataDirectory] = []
    for directory in strangers:
        owner = owners.of(directory)
        if owner is None:
            alone.append(directory)
        else:
            owner.others.extend(directory.items)
    return alone


@dataclass(slots=True)
class Owners:
    """Which of several captures something belongs to: the forced one, the only one, the one with its ids, the nearest.

    Ids are looked at only where there is a choice.
    """

    captures: list[Capture]
    forced: dict[str, str]
    looker: Looker
    _ids: dict[int, set[str]] = field(default_factory=dict)

    def prepare(self, strangers: list[DataDirectory]) -> None:
        """Read the logs of strangers together where their ids will be looked at."""
        if len(self.captures) > 1:
            prepare_ids([one for one in strangers if forced_name(one, self.forced) is None], self.looker)

    def of(self, stranger: DataDirectory) -> Capture | None:
        """The capture that a directory of logs or settings belongs to, None where nothing says."""
        name = forced_name(stranger, self.forced)
        if name is not None:
            return next((capture for capture in self.captures if capture.name == name), None)
        if len(self.captures) <= 1:
            return self.captures[0] if self.captures else None
        ids = ids_in_logs(stranger.items, self.looker)
        sharing = [capture for number, capture in enumerate(self.captures) if ids & self._ids_of(number)]
        return _nearest(stranger, sharing or self.captures)

    def take_printed(self, printed: DataDirectory, sketches: Sketches) -> bool:
        """Add a directory of printed logs to the capture that it belongs to; False where there is none."""
        name = forced_name(printed, self.forced)
        candidates = [capture for capture in self.captures if name in (None, capture.name)]
        if len(candidates) > 1:
            ids = ids_in_states([printed], self.looker)
            sharing = [capture for number, capture in enumerate(self.captures) if ids & self._ids_of(number)]
            candidates = sharing or candidates
        owner = _nearest(printed, candidates) if candidates else None
        if owner is None or self._contradicts(printed, owner, sketches):
            return False
        owner.directories.append(printed)
        return True

    def _ids_of(self, number: int) -> set[str]:
        if number not in self._ids:
            capture = self.captures[number]
            of_states = ids_in_states(capture.directories, self.looker)
            self._ids[number] = of_states | ids_in_logs(capture.others, self.looker)
        return self._ids[number]

    def _contradicts(self, printed: DataDirectory, capture: Capture, sketches: Sketches) -> bool:
        """Whether a print holds other facts than the logs of a capture at the same offsets."""
        sketch = sketches.get(printed.path, Sketch())
        return any(
            sketch.contradicts(sketches.get(directory.path, Sketch()))
            or contradicts_segments(sketch, directory, self.looker)
            for directory in capture.directories
        )


def _nearest(stranger: DataDirectory, candidates: list[Capture]) -> Capture | None:
    """The only candidate with which it has the longest common folder."""
    depths = [
        max((common_depth(stranger, directory) for directory in capture.directories), default=0)
        for capture in candidates
    ]
    nearest = [capture for capture, depth in zip(candidates, depths, strict=True) if depth == max(depths)]
    return nearest[0] if len(nearest) == 1 else None


def _captures_of_printed(
    directories: list[DataDirectory], sketches: Sketches, forced: dict[str, str], looker: Looker
) -> list[Capture]:
    """Printed logs as captures: those given together, or about each other, that don't contradict."""
    groups: list[tuple[str | None, list[DataDirectory], Sketch]] = []
    for directory in directories:
        name, sketch = forced_name(directory, forced), sketches.get(directory.path, Sketch())
        for forced_into, members, known in groups:
            related = _roots(members) & _roots([directory]) or sketch.is_about(known)
            if forced_into == name and (name is not None or (related and not sketch.contradicts(known))):
                members.append(directory)
                _unite(known, sketch)
                break
        else:
            groups.append((name, [directory], sketch))
    return [_printed_capture(name, members, sketch, looker) for name, members, sketch in groups]


def _roots(directories: list[DataDirectory]) -> set[str]:
    return {item.root for directory in directories for item in directory.items}


def _unite(known: Sketch, more: Sketch) -> None:
    known.facts.update(more.facts)
    known.wrote |= more.wrote
    known.listed |= more.listed


def _printed_capture(name: str | None, members: list[DataDirectory], sketch: Sketch, looker: Looker) -> Capture:
    first: dict[tuple[str, int], tuple[int, tuple[int, ...]]] = {}
    for (topic, partition, offset), fact in sketch.facts.items():
        first[topic, partition] = min(first.get((topic, partition), (offset, fact)), (offset, fact))
    if first:
        fingerprint = hashlib.sha256(repr(sorted(first.items())).encode()).hexdigest()[:16]
    else:
        fingerprint = digest([item for directory in members for item in directory.items], looker)
    why = "forced by --capture" if name is not None else "text: no cluster.id; a place of its own"
    return Capture(name or "", None, fingerprint, why, members)


def _divided(directories: list[DataDirectory]) -> tuple[list[DataDirectory], list[DataDirectory]]:
    """Those that hold something that is used, and the others."""
    kinds: tuple[list[DataDirectory], list[DataDirectory]] = [], []
    for directory in directories:
        kinds[all(item.left_out for item in directory.items)].append(directory)
    return kinds


def _captures_of_logs(used: list[DataDirectory], forced: dict[str, str], looker: Looker) -> list[Capture]:
    """Logs and settings without any data: those whose paths were given side by side, or that share ids, are one."""
    groups: list[_LogGroup] = []
    for directory, ids in zip(used, _ids_of_each(used, looker), strict=True):
        group = _LogGroup(forced_name(directory, forced), _places(directory), ids, [*directory.items])
        joined = [other for other in groups if other.is_one_with(group)]
        for other in joined:
            group.unite(other)
        groups = [*(other for other in groups if other not in joined), group]
    return [
        Capture(group.name or "", None, digest(group.items, looker), "logs: a place of their own", others=group.items)
        for group in groups
    ]


def _ids_of_each(directories: list[DataDirectory], looker: Looker) -> list[set[str]]:
    """The ids that the logs of each directory name; of a single one nobody asks."""
    if len(directories) < 2:
        return [set() for _ in directories]
    prepare_ids(directories, looker)
    return [ids_in_logs(directory.items, looker) for directory in directories]


@dataclass(slots=True, eq=False)
class _LogGroup:
    """Logs and settings that belong together: where they lie and which ids they name."""

    name: str | None
    places: set[str]
    ids: set[str]
    items: list[Item] = field(default_factory=list)

    def is_one_with(self, other: _LogGroup) -> bool:
        related = self.name is not None or bool(self.places & other.places or self.ids & other.ids)
        return self.name == other.name and related

    def unite(self, other: _LogGroup) -> None:
        self.places |= other.places
        self.ids |= other.ids
        self.items = other.items + self.items


def _places(directory: DataDirectory) -> set[str]:
    """The folders that hold what was given."""
    return {places.parent(places.absolute(item.root)) for item in directory.items}
