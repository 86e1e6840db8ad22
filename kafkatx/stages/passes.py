"""Two passes over evidence that is too large to be read whole: what is suspect is named by a first one.

The second pass is any engine's only one, over captures whose other segments are left out (evidence/unread.py): neither
the stages nor the rules know of passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.directories import Partition
from kafkatx.evidence.looking import Looker
from kafkatx.evidence.unread import UnreadSize, unread_size, with_unread
from kafkatx.findings.finding import NotCheckable
from kafkatx.rules.registry import judge
from kafkatx.stages.judging import CaptureDiagnosis
from kafkatx.stages.log_marks import LogCopy, LogMarks, MarksAsked, Times, copies_of, marks_of, times_of_all
from kafkatx.stages.models import JudgedCapture
from kafkatx.stages.suspects import SMALL, Suspect, chosen, read_anyway, suspects
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.words.plurals import plural

Marks = list[tuple[Partition, LogMarks]]
NameSuspects = Callable[[list[Capture], list[Marks]], Sequence[set[Suspect]]]
"""Reads captures without their data, and names what is suspect in each, by what small files say of it."""
OF_DATA = (
    "atomicity_violation",
    "committed_but_unreadable",
    "duplicate_sequence",
    "hanging_transaction",
    "read_committed_blocked",
    "sequence_gap",
)
"""Rules that look at every batch of data: what they did not see they can't clear."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A capture with the copies of its data, and the keys of the segments that are read in any case."""

    capture: Capture
    copies: list[LogCopy]
    anyway: set[str]


def suspected(captures: list[Capture], name: NameSuspects, looker: Looker, small: int = SMALL) -> list[Capture]:
    """Return the captures with all segments of data left out that nothing makes suspect.

    `name` is called for those captures alone in which something can be left out. `small`: partitions, and ends of logs,
    of no more bytes are read in any case.
    """
    given = [_given(capture, small) for capture in captures]
    large = [one for one in given if any(item.key not in one.anyway for copy in one.copies for item in copy.segments)]
    if not large:
        return captures
    marks = _marks([one.copies for one in large], looker)
    named = name([with_unread(one.capture, ()) for one in large], marks)
    wanted = _wanted(large, named, looker, small)
    parts = {id(one.capture): with_unread(one.capture, keys) for one, keys in zip(large, wanted, strict=True)}
    return [parts.get(id(capture), capture) for capture in captures]


def named_in(told: JudgedCapture, marks: Marks) -> set[Suspect]:
    """Name what is suspect in a capture that was read without its data."""
    return suspects(told.model, judge(told.model).findings, marks)


def _given(capture: Capture, small: int) -> _Given:
    has_rows = any(key[0] == TRANSACTION_STATE for key in capture.segments())
    copies = [*copies_of(capture)] if has_rows else []
    return _Given(capture, copies, {key for copy in copies for key in read_anyway(copy, small)})


def _marks(given: list[list[LogCopy]], looker: Looker) -> list[Marks]:
    """What the small files of all copies say, where it is anything."""
    asked = [
        (number, copy.key, asked) for number, copies in enumerate(given) for copy in copies if (asked := copy.asked)
    ]
    found: list[Marks] = [[] for _ in given]
    for (number, key, _), told in zip(asked, looker.each(marks_of, [one for *_, one in asked], _bytes), strict=True):
        if told.says_something:
            found[number].append((key, told))
    return found


def _bytes(asked: MarksAsked) -> int:
    return asked.bytes


def _wanted(large: list[_Given], named: Sequence[set[Suspect]], looker: Looker, small: int) -> list[set[str]]:
    """Keys of the segments that are to be read of each capture."""
    of_copies: list[tuple[int, LogCopy, list[Suspect]]] = []
    for number, (one, found) in enumerate(zip(large, named, strict=True)):
        by_key: dict[Partition, list[Suspect]] = {}
        for suspect in found:
            by_key.setdefault(suspect.key, []).append(suspect)
        of_copies += [(number, copy, by_key[copy.key]) for copy in one.copies if copy.key in by_key]
    timed = [copy.time_paths for _, copy, of_copy in of_copies if any(one.first_offset is None for one in of_copy)]
    times = iter(looker.each(times_of_all, timed, len))
    wanted = [set(one.anyway) for one in large]
    for number, copy, of_copy in of_copies:
        is_timed = any(one.first_offset is None for one in of_copy)
        told: list[Times] | None = next(times) if is_timed else None
        wanted[number] |= chosen(copy, of_copy, told, small)
    return wanted


def complete(part: CaptureDiagnosis, capture: Capture) -> CaptureDiagnosis:
    """Return what is said of a capture with the files that its `light` one lacked, and with what was not read of it."""
    told_of = {entry.path for entry in part.coverage}
    added = [
        coverage_of(capture, item, directory.broker_id)
        for directory in capture.directories
        for item in directory.items
        if item.path not in told_of
    ]
    size = unread_size(capture)
    told = replace(part, coverage=sorted([*part.coverage, *added], key=lambda entry: entry.path))
    if not size.segments:
        return told
    examined = replace(part.examined, unread_segments=size.segments)
    return replace(told, examined=examined, not_checkable=[*part.not_checkable, *_left(size)])


def _left(size: UnreadSize) -> list[NotCheckable]:
    partitions = plural(size.partitions, "partition")
    scope = f"{size.segments:,} of {plural(size.of, 'segment')} of data, in {partitions}, {size.bytes:,} bytes"
    missing = "a look into them: nothing in state rows, indexes or snapshots made them suspect; --thorough reads them"
    return [NotCheckable(rule, scope, missing) for rule in OF_DATA]
