"""What a fact may be made of: classes, enumerations and row types by name, and whether a value is as declared.

A field's declaration is its annotation; what Python says in it is checked when a fact is read, since facts may come of
a file that somebody made. `LAYOUT` (stages/facts.py) numbers all of it: another release may have other fields.
"""

from __future__ import annotations

import dataclasses
import hashlib
import types
import typing
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.directories import DataDirectory
from kafkatx.evidence.file_reading import BatchSummary, Ending, FileReading
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.log_reading import FileFacts
from kafkatx.evidence.offset_coverage import FileReach
from kafkatx.evidence.plans import LogFile, PartialPlan, PartitionPlan
from kafkatx.evidence.stretches import SplitSummary
from kafkatx.findings.finding import NotCheckable
from kafkatx.formats.file_names import FolderState, PartitionFolder
from kafkatx.kernels.rows import BATCH, EVENT, STATE
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import ABORTED, EPOCH_START, PRODUCER
from kafkatx.segments.resync import ExpectedNext
from kafkatx.stages.placed import PLACED
from kafkatx.terms.events import Level, Side
from kafkatx.text.events import LogFacts, LogSource, Setting, Statement, Thrown, Trace
from kafkatx.text.pages.part import PartKind, TextPart


@dataclasses.dataclass(frozen=True, slots=True)
class FactsHead:
    """What facts are of: the release and the layout that they were written with, how many captures, the other files."""

    kafkatx: str
    layout: int
    captures: int
    verify_all: bool
    others: list[Coverage]


@dataclasses.dataclass(frozen=True, slots=True)
class States:
    """Coordinator rows (kernels.rows.STATE) whose codes are places in these lists: names that they use, and no others.

    `lists` are partition lists as (topic, partition), `tags` unknown tagged fields.
    """

    rows: Any
    ids: list[bytes]
    lists: list[list[tuple[str, int]]]
    tags: list[bytes]


ROWS: dict[str, np.dtype[Any]] = {
    "batch": BATCH, "state": STATE, "event": EVENT, "producer": PRODUCER, "placed": PLACED, "aborted": ABORTED,
    "epoch_start": EPOCH_START,
}  # fmt: skip
ENUMS: dict[str, type[Enum]] = {kind.__name__: kind for kind in (FolderState, Kind, Level, PartKind, Side)}
OBJECTS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Capture, Coverage, Damage, DataDirectory, Ending, ExpectedNext, FactsHead, FileFacts, FileReach, FileReading,
        BatchSummary, Item, LogFacts, LogFile, LogSource, NotCheckable, PartialPlan, PartitionFolder, PartitionPlan,
        Setting, SplitSummary, Statement, States, TextPart, Thrown, Trace,
    )
}  # fmt: skip
DECLARED: dict[tuple[type, str], Any] = {(LogFacts, "events"): EVENT, (States, "rows"): STATE}
"""Row types of fields that are annotated as any."""


def row_type(rows: Any) -> str:
    """Return the name of an array's dtype; raises TypeError for an array that no fact holds."""
    name = next((name for name, dtype in ROWS.items() if dtype == rows.dtype), None)
    if name is None or rows.ndim != 1:
        raise TypeError(f"an array of {rows.dtype} is no kind of fact")
    return name


Check = Callable[[Any], bool]


@dataclasses.dataclass(frozen=True, slots=True)
class DeclaredField:
    """A field of a registered class, and whether a value is what it declares."""

    name: str
    fits: Check


FieldsOf = tuple[DeclaredField, ...]


def fits(declared: Any, value: Any) -> bool:
    """Whether a value is of a type as an annotation declares it; a dtype stands for arrays of it."""
    return _check(declared)(value)


def _check(declared: Any) -> Check:
    """Return what tells whether a value is as declared. Members of objects were checked when these were made."""
    if isinstance(declared, np.dtype):
        return lambda value: isinstance(value, np.ndarray) and value.dtype == declared
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    return _check_plain(declared) if origin is None else _CHECKS[origin](*arguments)


def _check_plain(declared: Any) -> Check:
    if declared is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    if declared is None or not isinstance(declared, type):
        raise TypeError(f"{declared} can't be checked")
    return lambda value: isinstance(value, declared)


def _check_union(*declared: Any) -> Check:
    checks = [_check(one) for one in declared]
    return lambda value: any(check(value) for check in checks)


def _check_members(kind: Any, declared: Any) -> Check:
    check = _check(declared)
    return lambda value: isinstance(value, kind) and all(map(check, value))


def _check_tuple(*declared: Any) -> Check:
    if declared[-1] is Ellipsis:
        return _check_members(tuple, declared[0])
    checks = [_check(one) for one in declared]
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == len(checks)
        and all(check(member) for check, member in zip(checks, value, strict=True))
    )


def _check_dictionary(key: Any, member: Any) -> Check:
    of_key, of_value = _check(key), _check(member)
    return lambda value: isinstance(value, dict) and all(map(of_key, value)) and all(map(of_value, value.values()))


_CHECKS: dict[Any, Callable[..., Check]] = {
    typing.Union: _check_union,
    types.UnionType: _check_union,
    tuple: _check_tuple,
    dict: _check_dictionary,
    list: partial(_check_members, list),
    set: partial(_check_members, set),
}
"""What makes the check of a generic type, by its origin."""


def _fields(kind: Any) -> FieldsOf:
    hints = typing.get_type_hints(kind)
    names = [one.name for one in dataclasses.fields(kind)]
    return tuple(DeclaredField(name, _check(DECLARED.get((kind, name), hints[name]))) for name in names)


FIELDS: dict[type, FieldsOf] = {kind: _fields(kind) for kind in OBJECTS.values()}


def declarations() -> str:
    """A hash of all names and declarations: where it changes facts mean something else, and LAYOUT is raised."""
    objects = [(name, [(one.name, str(one.type)) for one in dataclasses.fields(OBJECTS[name])]) for name in OBJECTS]
    enums = [(name, [member.name for member in kind]) for name, kind in ENUMS.items()]
    rows = [(name, dtype.descr) for name, dtype in ROWS.items()]
    return hashlib.sha256(repr((objects, enums, rows)).encode()).hexdigest()[:16]
