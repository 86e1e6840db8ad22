"""Declarations of Kafka's own record messages by version: coordinators, cluster metadata, control records.

Text      one file a component in `schemas/`. A message begins at the margin: `key`, `value`, `record` or
          `data`, its number (- has none), name, versions, and `flexible` with the versions of compact forms and tags.
          Under it one field a line: name, type (`[]` array, `?` nullable, `struct` with fields indented below),
          the versions that have it (all of the message where not said), `tag` and its number, and the default of a
          tagged field where it is not zero, empty or false.
Order     fields stand in the order of Kafka's schemas, by which it prints them; in the bytes tagged fields come last.
Versions  those of Kafka 4.3.1, which read everything that 0.11 and later wrote. A message or version that is not here
          comes from a later release (or is damage): it is not read.
Source    the schemas of 4.3.1 (group, share and transaction coordinator, metadata, clients: common/message/*.json).
"""

from __future__ import annotations

from functools import cache

from kafkatx.terms.packaged import packaged_text
from kafkatx.terms.records import dataclass

NO_VERSION = 1 << 15


@dataclass(frozen=True, slots=True)
class Versions:
    """A range of versions."""

    lowest: int
    highest: int

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest


@dataclass(frozen=True, slots=True)
class MessageField:
    """A field of a message; `kind` is a primitive's name or `struct`, `default` a text, for tagged fields only."""

    name: str
    kind: str
    is_array: bool
    is_nullable: bool
    versions: Versions
    tag: int | None
    default: str | None
    fields: tuple[MessageField, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message; `number` is its type or api key, None for one that is known by name only.

    Two are equal only if they are the same: readers are remembered by it, and there is one of each.
    """

    role: str
    number: int | None
    name: str
    versions: Versions
    flexible: Versions
    fields: tuple[MessageField, ...]


@cache
def component(name: str) -> tuple[Message, ...]:
    """Return the messages of a component: the name of a file in `schemas/`, without its ending."""
    text = packaged_text("kafkatx.formats", f"schemas/{name}.txt")
    return tuple(parse(text))


def by_number(name: str, role: str) -> dict[int, Message]:
    """Return the messages of a component that have a role, by number."""
    return {found.number: found for found in component(name) if found.role == role and found.number is not None}


def by_name(name: str) -> dict[str, Message]:
    """Return the messages of a component by name."""
    return {found.name: found for found in component(name)}


def parse(text: str) -> list[Message]:
    """Return the messages that a text declares; raises ValueError for a line that is none."""
    return [_message(block.splitlines()) for block in text.strip().split("\n\n")]


def _message(lines: list[str]) -> Message:
    role, number, name, versions, *flexible = lines[0].split()
    known = _versions(versions, None)
    fields, behind = _fields(lines, 1, 2, known)
    if behind != len(lines):
        raise ValueError(f"{name}: what is {lines[behind]!r}?")
    return Message(
        role, None if number == "-" else int(number), name, known,
        _versions(flexible[1], known) if flexible else Versions(NO_VERSION, NO_VERSION), fields,
    )  # fmt: skip


def _fields(lines: list[str], at: int, indent: int, around: Versions) -> tuple[tuple[MessageField, ...], int]:
    """Read the fields indented by `indent` from line `at` on, and those of their structs."""
    found = []
    while at < len(lines) and len(lines[at]) - len(lines[at].lstrip()) == indent:
        name, kind, *words = lines[at].split()
        options = _options(words)
        versions = _versions(options["versions"], around) if "versions" in options else around
        inner, at = _fields(lines, at + 1, indent + 2, versions)
        found.append(
            MessageField(
                name=name,
                kind=kind.removeprefix("[]").removesuffix("?"),
                is_array=kind.startswith("[]"),
                is_nullable=kind.endswith("?"),
                versions=versions,
                tag=int(options["tag"]) if "tag" in options else None,
                default=options.get("default"),
                fields=inner,
            )
        )
    return tuple(found), at


def _options(words: list[str]) -> dict[str, str]:
    options = {"versions": words[0]} if words and words[0][0].isdigit() else {}
    pairs = words[len(options) :]
    return options | dict(zip(pairs[::2], pairs[1::2], strict=True))


def _versions(text: str, around: Versions | None) -> Versions:
    """Read `3`, `1-4` or `2+` (up to the highest version of what is around)."""
    if text.endswith("+"):
        if around is None:
            raise ValueError(f"{text}: a message names its highest version")
        return Versions(int(text[:-1]), around.highest)
    lowest, _, highest = text.partition("-")
    return Versions(int(lowest), int(highest or lowest))
