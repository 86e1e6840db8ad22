"""Names in a bundle: what was given by its own name, and below it paths as they were.

A partition is known by the name of its folder and a broker by where its folders lie, so both stay as they are; what
lies above what was given is nobody's business.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.formats.file_names import parse_partition_folder
from kafkatx.local.collecting.picking import Pick
from kafkatx.sources import places
from kafkatx.sources.archives import SEPARATOR, STANDARD_INPUT

PACKED = (".gz", ".zst", ".bz2", ".xz")
OF_INPUT = "standard-input"


def bundle_names(picks: Iterable[Pick]) -> dict[str, str]:
    """Return the name of each path in the bundle: relative, with `/`, each another one."""
    labels: dict[tuple[str, ...], str] = {}
    names: dict[str, str] = {}
    taken: set[str] = set()
    for pick in picks:
        name = _unpacked(_name(pick, labels))
        while name in taken:
            name = f"{name}.2"
        names[pick.path] = name
        taken.add(name)
    return names


def is_packed(path: str) -> bool:
    """Whether a path is called like a compressed file, which is unpacked on its way."""
    return path.endswith(PACKED)


def _unpacked(name: str) -> str:
    """The name without the ending of a compressed file."""
    return name.rpartition(".")[0] if is_packed(name) else name


def _name(pick: Pick, labels: dict[tuple[str, ...], str]) -> str:
    """The name of a file below that of what was given; `!/` of archives is a folder like any other."""
    outer, separator, inner = pick.path.partition(SEPARATOR)
    inside = f"/{inner.replace(SEPARATOR, '/')}" if separator else ""
    if outer == STANDARD_INPUT:
        return f"{OF_INPUT}{inside or '.txt'}"
    base, parts = _base(pick.root.partition(SEPARATOR)[0]), _parts(outer)
    return "/".join((_label(base, labels), *parts[len(base) :])) + inside


def _base(root: str) -> tuple[str, ...]:
    """What was given; of a partition's folder, or of a file in one, the folder around it."""
    parts = _parts(root)
    for above in (1, 2):
        if len(parts) > above and parse_partition_folder(parts[-above]) is not None:
            return parts[:-above]
    return parts


def _parts(path: str) -> tuple[str, ...]:
    return places.parts(path if places.is_url(path) else places.normal(path))


def _label(base: tuple[str, ...], labels: dict[tuple[str, ...], str]) -> str:
    """The name of what was given, with a number where another one is called alike."""
    if base not in labels:
        plain = base[-1].strip("/").rpartition("/")[2] or "root"
        alike = sum(1 for known in labels if known[-1] == base[-1])
        labels[base] = f"{plain}.{alike + 1}" if alike else plain
    return labels[base]
