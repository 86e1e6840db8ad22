"""What `verify` found, for a person: the damage first, each with its file and position, then what is whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.console import Console, RenderableType
from rich.text import Text

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.verification import DAMAGED, EMPTY, TORN, UNREADABLE, WHOLE, Verification
from kafkatx.outputs.text_lines import file_lines, marked, print_trimmed
from kafkatx.segments.damage import Damage
from kafkatx.words.plurals import plural

VERIFIED = (WHOLE, TORN, DAMAGED, EMPTY)
MOST_PLACES = 20
"""Places of one file that are printed; JSON has all."""


def print_verification(console: Console, found: Verification, *, verbose: bool = False) -> None:
    """Print everything, with `verbose` each file by its name; lines end where their text ends."""
    print_trimmed(console, *_parts(found, verbose))


def _parts(found: Verification, verbose: bool) -> Iterator[RenderableType]:
    yield _summary(found)
    yield from _places("Damaged", "bold red", found.damage)
    yield from _places("Ends that a kill or a copy of a running broker leaves (no damage)", "yellow", found.ordinary)
    yield from _notes(found.coverage)
    yield from _whole(entry for entry in found.coverage if entry.status in VERIFIED)
    yield from _left_out(found.coverage)
    if verbose:
        yield from (Text(""), Text("Files", "bold"), *file_lines(found.coverage))


def _summary(found: Verification) -> RenderableType:
    """One sentence: how much was read, and the verdict."""
    verified = [entry for entry in found.coverage if entry.status in VERIFIED]
    parts = [plural(len(verified), "file"), plural(sum(entry.bytes for entry in verified), "byte"), *_read(verified)]
    return Text.assemble(f"Verified {', '.join(parts)}: ", _verdict(found, bool(verified)), ".")


def _verdict(found: Verification, has_verified: bool) -> Text:
    damaged = len({damage.path for damage in found.damage})
    if damaged:
        return Text(f"damage in {plural(damaged, 'file')}", "bold red")
    if not has_verified:
        return Text("nothing could be read")
    if open_ends := len({place.path for place in found.ordinary}):
        return Text(f"no damage, {plural(open_ends, 'file')} with an open end", "bold green")
    return Text("everything is whole", "bold green")


def _read(entries: list[Coverage]) -> Iterator[str]:
    """How many batches, and records where these were read."""
    yield plural(sum(entry.batches for entry in entries), "batch", "batches")
    records = [entry.records for entry in entries if entry.records is not None]
    if records:
        yield plural(sum(records), "record")


def _places(title: str, style: str, places: list[Damage]) -> Iterator[RenderableType]:
    """Yield places by file."""
    if not places:
        return
    yield Text("")
    yield Text(title, style)
    for path, group in groupby(
        sorted(places, key=lambda place: (place.path, place.position)), lambda place: place.path
    ):
        of_file = list(group)
        yield marked("  ", path)
        for place in of_file[:MOST_PLACES]:
            size = f", {plural(place.bytes, 'byte')}" if place.bytes else ""
            text = f"expected {place.expected}, found {place.found}"
            yield marked("- ", f"{place.kind} at position {place.position:,}{size}: {text}", indent=4)
        if len(of_file) > MOST_PLACES:
            yield marked("- ", f"and {len(of_file) - MOST_PLACES:,} more (--format json lists them)", indent=4)


def _notes(coverage: Iterable[Coverage]) -> Iterator[RenderableType]:
    """Yield what is worth knowing of files that are whole."""
    noted = [entry for entry in coverage if entry.status in (WHOLE, EMPTY) and entry.note]
    if noted:
        yield Text("")
        yield Text("Notes", "bold")
    for entry in noted:
        yield marked("  ", entry.path)
        yield marked("- ", str(entry.note), indent=4)


def _whole(entries: Iterable[Coverage]) -> Iterator[RenderableType]:
    """Yield a line a folder with what was verified in it."""
    folders: dict[str, list[Coverage]] = {}
    for entry in entries:
        folders.setdefault(entry.path.rpartition("/")[0] or ".", []).append(entry)
    if folders:
        yield Text("")
        yield Text("Verified", "bold")
    for folder, found in folders.items():
        yield marked("  ", folder)
        yield marked("- ", _folder(found), "dim", indent=4)


def _folder(entries: list[Coverage]) -> str:
    """Say what a folder holds, and how much of it is not whole."""
    logs = [entry for entry in entries if entry.kind == "log"]
    parts = [plural(len(logs), "segment"), *_read(logs), *_offsets(logs)] if logs else []
    if len(entries) > len(logs):
        parts.append(plural(len(entries) - len(logs), "other file" if logs else "file"))
    states = Counter(entry.status for entry in entries)
    parts += [f"{states[status]} {status}" for status in (DAMAGED, TORN) if states[status]]
    return ", ".join(parts)


def _offsets(logs: list[Coverage]) -> Iterator[str]:
    known = [offset for entry in logs for offset in (entry.first_offset, entry.last_offset) if offset is not None]
    if known:
        yield f"offsets {min(known):,} to {max(known):,}"


def _left_out(coverage: Iterable[Coverage]) -> Iterator[RenderableType]:
    """Yield why files were not verified; JSON names each."""
    reasons = Counter(entry.note for entry in coverage if entry.status not in (*VERIFIED, UNREADABLE))
    if reasons:
        yield Text("")
        yield Text("Not verified", "bold")
    for reason, count in reasons.most_common():
        yield marked("- ", f"{plural(count, 'file')}: {reason or 'nothing in it can be verified'}", "dim", indent=2)
