"""Damage in the text files of a data directory: lines that are not what their file asks for, with their position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from kafkatx.evidence.item import Kind
from kafkatx.formats import checkpoints, identity
from kafkatx.formats.text_problem import TextProblem, problem
from kafkatx.segments.damage import Damage


def damage_of_small_file(kind: Kind, path: str, data: bytes) -> list[Damage]:
    """Return the lines of a file of this kind that can't be read; none for a kind without a text of its own."""
    problems_of = READERS.get(kind)
    problems = problems_of(data.decode("utf-8", "replace")) if problems_of else ()
    lines = data.split(b"\n")
    return [_damage(path, lines, found) for found in problems]


def _damage(path: str, lines: list[bytes], found: TextProblem) -> Damage:
    """Turn a line into a place in the file."""
    before = lines[: found.line - 1]
    size = len(lines[found.line - 1]) if found.line <= len(lines) else 0
    shown = f"{found.found!r} in line {found.line}"
    return Damage("entry", path, sum(map(len, before)) + len(before), size, found.expected, shown)


def _leader_epochs(text: str) -> Sequence[TextProblem]:
    """Epochs and their start offsets ascend: a leader begins where the one before it ended."""
    read = checkpoints.parse_leader_epochs(text)
    if read.problems:
        return read.problems
    return [
        problem(number, "an epoch and an offset that are not below those before", f"{entry.epoch} {entry.start_offset}")
        for number, (before, entry) in enumerate(pairwise(read.entries), 4)
        if entry.epoch <= before.epoch or entry.start_offset < before.start_offset
    ]


READERS: dict[Kind, Callable[[str], Sequence[TextProblem]]] = {
    Kind.CHECKPOINT: lambda text: checkpoints.parse_offsets(text).problems,
    Kind.LEADER_EPOCHS: _leader_epochs,
    Kind.META_PROPERTIES: lambda text: identity.parse_meta_properties(text).problems,
    Kind.PARTITION_METADATA: identity.partition_metadata_problems,
    Kind.CLEAN_SHUTDOWN: identity.clean_shutdown_problems,
}
