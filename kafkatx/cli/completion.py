"""What a shell offers behind an option: rules, tables, kinds of files, and what the evidence named before holds.

Quick   a key was pressed: names of folders are listed, and of `__transaction_state` little is read. Nothing is looked
        for in an object store or an archive.
Safe    zsh evaluates what it is offered, so a name from evidence is offered only where no shell finds a meaning in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import typer

from kafkatx.terms.regex import regex

MOST_FOLDERS = 20_000
"""Entries of folders that are looked at."""
STATE_BYTES = 1 << 18
"""Bytes of `__transaction_state` that are read."""
LONGEST = 60
"""Characters of what an offer means."""
DEPTH = 3
"""Floors of folders below a path: a parent of data directories, those, their partitions."""
HARMLESS = regex(r"[\w.:@+][\w.:@+/-]*", re.ASCII)

Offer = tuple[str, str]
"""What is completed, and what it means."""


def rules(incomplete: str) -> list[Offer]:
    """Return the rules of which the name begins so, with what they say."""
    from kafkatx.rules.docstring import rule_texts

    return _beginning(incomplete, ((rule.rule_id, rule.summary) for rule in rule_texts()))


def explained(incomplete: str) -> list[Offer]:
    """Return the rules and errors of the protocol of which the name begins so."""
    from kafkatx.terms.catalogue.loading import error_codes

    return rules(incomplete) + _beginning(incomplete, ((error.name, f"error {error.code}") for error in error_codes()))


def tables(incomplete: str) -> list[Offer]:
    """Return the tables of an export of which the name begins so, with what a row of each is."""
    from kafkatx.tables.catalogue import EXPORTED

    return _beginning(incomplete, ((table.name, "") for table in EXPORTED.values()))


def kinds(incomplete: str) -> list[Offer]:
    """Return the kinds that a file can be said to hold."""
    from kafkatx.evidence.claims import KINDS

    return _beginning(incomplete, ((kind, "") for kind in KINDS))


def topics(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Return the topics of which a partition lies under the paths given."""
    return _beginning(incomplete, ((topic, "") for topic in sorted({topic for topic, _ in _partitions(_paths(ctx))})))


def transactional_ids(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Return the ids that the beginnings of the coordinator's logs under the paths given name."""
    from kafkatx.terms.topics import TRANSACTION_STATE

    logs = (
        file
        for topic, folder in _partitions(_paths(ctx))
        if topic == TRANSACTION_STATE
        for file in sorted(folder.glob("*.log"))
    )
    return _beginning(incomplete, ((name, "") for name in sorted(_ids_in(logs))))


def _beginning(incomplete: str, offers: Iterable[Offer]) -> list[Offer]:
    import textwrap

    return [
        (name, textwrap.shorten(means, LONGEST, placeholder="..."))
        for name, means in offers
        if name.startswith(incomplete) and HARMLESS.fullmatch(name)
    ]


def _paths(ctx: typer.Context) -> list[Path]:
    """Folders among the words given; click has left them where the last option lacks its value."""
    given = [*ctx.args]
    for value in ctx.params.values():
        given += value if isinstance(value, list | tuple) else []
    words = (Path(word).expanduser() for word in given if isinstance(word, str) and "://" not in word)
    return [path for path in words if path.is_dir()]


def _partitions(paths: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Topic and folder of the partitions under some paths; some thousand entries are looked at, no more."""
    from kafkatx.formats.file_names import parse_partition_folder

    left, waiting = MOST_FOLDERS, [(path, 0) for path in paths]
    while waiting and left > 0:
        path, depth = waiting.pop(0)
        below = _folders_in(path, left)
        left -= 1 + len(below)
        folder = parse_partition_folder(path.absolute().name)
        if folder is not None and not below:  # `broker-1` is a partition's name too, but holds the folders of others
            yield folder.topic, path
        elif depth < DEPTH:
            waiting += [(one, depth + 1) for one in below]


def _folders_in(path: Path, most: int) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            return [Path(entry.path) for _, entry in zip(range(most), entries, strict=False) if entry.is_dir()]
    except OSError:
        return []


def _ids_in(logs: Iterable[Path]) -> set[str]:
    """Ids in the first bytes of coordinator logs. What can't be read names none."""
    from kafkatx.kernels.engine import forced
    from kafkatx.segments.names import Names
    from kafkatx.segments.transaction_log import StateWalk
    from kafkatx.sources.files import OpenFile

    names, left = Names(), STATE_BYTES
    with forced("interpreted"):
        for path in logs:
            try:
                with OpenFile(str(path)) as file:
                    file.size = min(file.size, left)
                    left -= file.size
                    for _ in StateWalk(file, names, first_offset=0).state_chunks():
                        pass
            except OSError:
                continue
            if left <= 0:
                break
    return {value.decode("utf-8", "replace") for value in names.transactional_ids.values}
