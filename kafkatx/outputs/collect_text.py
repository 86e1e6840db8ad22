"""What `collect` took, for a person: why, which files, how many bytes; then what is not at hand and what gets it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from kafkatx.outputs.text_lines import marked, print_trimmed, shown, unbroken
from kafkatx.stages.collected import Collected, Taken
from kafkatx.terms.times import iso
from kafkatx.words.plurals import plural

MOST_NAMED = 3
"""Ids that are named in the first line; JSON has all."""
FIRST = (
    "the coordinator's rows",
    "its transactions",
    "whether",
    "findings are",
    "names",
    "what the broker",
    "findings",
)
"""What reasons begin with, in the order in which they are shown; others come behind."""


def print_collected(console: Console, found: Collected) -> None:
    """Print everything; lines end where their text ends."""
    print_trimmed(console, *_parts(found))


def _parts(found: Collected) -> Iterator[RenderableType]:
    yield shown(_summary(found), "bold")
    if found.taken:
        yield Text("")
        yield _table(found.taken)
    yield Text("")
    yield from _missing(found)
    yield from _end(found)


def _summary(found: Collected) -> str:
    """One sentence: what was taken, and about whom."""
    if not found.taken and not found.missing:
        return "Nothing is asked for: no finding needs more evidence. Name a transactional.id with --id to collect it."
    names = found.transactional_ids[:MOST_NAMED]
    more = len(found.transactional_ids) - len(names)
    whom = f" about {', '.join(names)}{f' and {more} more' if more else ''}" if names else ""
    verb = "Packed" if found.out is not None else "Would take"
    return f"{verb} {plural(len(found.taken), 'file')}, {plural(found.bytes, 'byte')}{whom}."


def _table(taken: list[Taken]) -> RenderableType:
    """A row for the files of one folder that are taken for one reason."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("why", ratio=2, overflow="fold")
    table.add_column("what", ratio=3, overflow="fold")
    table.add_column("bytes", justify="right", no_wrap=True)
    for (why, folder), group in groupby(sorted(taken, key=_order), key=lambda one: (one.why, _folder(one))):
        files = list(group)
        told = f"{folder}/ ({plural(len(files), 'file')})" if len(files) > 1 else _one(files[0])
        table.add_row(shown(why), shown(told), f"{sum(one.bytes for one in files):,}")
    return table


def _order(one: Taken) -> tuple[int, str, str, str]:
    """What decides most first."""
    rank = next((at for at, beginning in enumerate(FIRST) if one.why.startswith(beginning)), len(FIRST))
    return rank, one.why, _folder(one), one.name


def _folder(one: Taken) -> str:
    return one.name.rpartition("/")[0]


def _one(taken: Taken) -> str:
    return taken.name if taken.part is None else f"{taken.name} ({taken.part})"


def _missing(found: Collected) -> Iterator[RenderableType]:
    """What would decide and is not at hand."""
    if not found.missing:
        return
    yield Text("Not at hand; bring it, and collect or diagnose it together with this:", style="bold")
    for number, one in enumerate(found.missing, 1):
        asked = one.asked
        yield marked(f"{number}. ", f"{asked.what}: {asked.why} ({asked.where})")
        if asked.command:
            yield unbroken(asked.command, "bold", 3)
    yield Text("")


def _end(found: Collected) -> Iterator[RenderableType]:
    """Where it lies, and how far it goes."""
    if found.widened is not None and found.taken:
        yield marked("- ", f"Also takes {found.widened}: without them the same findings do not come out.")
    if not found.is_alike:
        yield marked("- ", "By itself this gives other findings than the whole evidence.", "yellow")
    yield from (marked("- ", note) for note in found.notes)
    if found.out is None:
        if found.taken:
            yield shown("Nothing was written: --out FILE.tgz packs it, --redact with stand-ins for names.", "dim")
        return
    yield marked("- ", f"Written to {found.out}; it can be diagnosed as it is:")
    as_of = "" if found.as_of is None else f" --as-of {iso(found.as_of)}"
    yield unbroken(f"kafkatx diagnose{as_of} {found.out}", "bold", 2)
    if found.mapping is not None:
        yield marked("- ", f"{found.mapping} has the names behind the stand-ins: it stays with you.")
