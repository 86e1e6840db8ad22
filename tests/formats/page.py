"""The page docs/formats.md: what each module of `kafkatx/formats` declares, with its docstring's words.

Fields are read off the source of the declarations, where they have names and types; positions and sizes are those of
the layouts themselves, so the page can't say another byte than the readers read.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from inspect import cleandoc
from textwrap import fill
from types import ModuleType

from construct import SizeofError

from kafkatx.formats.layout import Layout
from kafkatx.formats.message_schemas import Message, MessageField, Versions, component

HEAD = """\
# Formats

Every byte layout and text that kafkatx reads of a broker's data directory: names, bytes, the releases that have them
and the KIP or class of Kafka that they were read from. Numbers are big-endian, and signed where not said otherwise.
`dump` prints each of these files field by field ([cli.md](cli.md#dump)), `verify` checks them, and
[tables.md](tables.md) has what they say.

"""
SUBJECTS = {
    "Record batches": ("record_batch", "record", "control_record", "legacy"),
    "Files beside a segment": ("offset_index", "time_index", "aborted_txn", "producer_snapshot"),
    "Internal topics": ("transaction_log", "framed_records", "metadata_log"),
    "Names, checkpoints, identity": ("file_names", "checkpoints", "identity"),
    "Primitives": ("primitives",),
}
COMPONENTS = {
    "transaction_coordinator": "`__transaction_state`",
    "group_coordinator": "`__consumer_offsets`",
    "consumer_protocol": "what `__consumer_offsets` holds of classic consumers",
    "share_coordinator": "`__share_group_state`",
    "cluster_metadata": "`__cluster_metadata`",
    "remote_log_metadata": "`__remote_log_metadata`",
    "control_records": "control records",
}
NUMBERS = {"s": "", "u": "u"}
NAMED = {
    "Varint": "varint (zigzag)",
    "Varlong": "varlong (zigzag)",
    "UVarint": "varint (unsigned)",
    "Bytes": "int32 length, bytes (-1: null)",
    "VarintBytes": "varint length, bytes (-1: null)",
    "String": "int16 length, UTF-8 (-1: null)",
    "CompactString": "compact length, UTF-8 (0: null)",
    "VarintString": "varint length, UTF-8",
    "TaggedFields": "tagged fields",
    "PARTITION_LISTS[0]": "int32 count, then PartitionsV0",
    "PARTITION_LISTS[1]": "compact count, then PartitionsV1",
}
ARRAYS = {
    "array_of": "int32 count",
    "compact_array_of": "compact count",
    "varint_array_of": "varint count",
}
SECTION = re.compile(r"([A-Z][a-z]+) {2,}(\S.*)")


def formats_page() -> str:
    """Return the page, without the line that says that it is generated."""
    parts = [HEAD]
    for subject, modules in SUBJECTS.items():
        parts.append(f"## {subject}\n")
        parts.extend(_module(importlib.import_module(f"kafkatx.formats.{name}")) for name in modules)
    parts.append("## Messages of the internal topics\n")
    parts.extend(_component(name, topic) for name, topic in COMPONENTS.items())
    return "\n".join(parts)


def _module(module: ModuleType) -> str:
    title, sections = _docstring(module.__doc__ or "")
    rows = "".join(_item(f"**{heading}**: {_with_values(module, text)}") for heading, text in sections.items())
    tables = [_table(name, layout, fields) for name, layout, fields in declared(module)]
    return "\n".join([f"### {title}\n", rows, *tables])


def _item(text: str) -> str:
    """An item of a list, in lines of a readable length."""
    return f"{fill(text, 118, initial_indent='- ', subsequent_indent='  ', break_on_hyphens=False)}\n"


def _with_values(module: ModuleType, text: str) -> str:
    """Constants of the module with their values: `HEADER_SIZE (61)`."""

    def with_value(word: re.Match[str]) -> str:
        value = getattr(module, word[0], None)
        return f"{word[0]} ({int(value)})" if isinstance(value, int) else word[0]

    return re.sub(r"\b[A-Z][A-Z_]{3,}\b(?! ?\()", with_value, text)


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """The first sentence, and the sections by heading; lines that go on are joined, other text is left out."""
    lines = cleandoc(text).splitlines()
    sections: dict[str, str] = {}
    for line in lines[1:]:
        if found := SECTION.match(line):
            sections[heading := found[1]] = found[2]
        elif line.startswith(" ") and sections:
            sections[heading] += f" {line.strip()}"
    return lines[0].rstrip("."), sections


def declared(module: ModuleType) -> Iterator[tuple[str, Layout, list[tuple[str, str]]]]:
    """Yield the layouts that a module declares for others: name, layout, fields with their types."""
    tree = ast.parse(inspect.getsource(module))
    named = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for name, value in named.items():
        found = getattr(module, name)
        if isinstance(found, Layout) and not name.startswith("_") and _is_layout(value):
            yield name, found, _fields(value, named)
        elif isinstance(value, ast.Dict) and isinstance(found, dict):
            for key, one in zip(found, value.values, strict=True):
                if _is_layout(one):
                    yield f"{name}[{key}]", found[key], _fields(one, named)


def _is_layout(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Layout"


def _fields(value: ast.expr, named: dict[str, ast.expr]) -> list[tuple[str, str]]:
    """Names and types of the fields of `Layout(...)`, or of a tuple of fields."""
    found = list[tuple[str, str]]()
    for one in value.args if isinstance(value, ast.Call) else getattr(value, "elts", []):
        if isinstance(one, ast.Starred) and isinstance(one.value, ast.Name):
            found += _fields(named[one.value.id], named)
        elif isinstance(one, ast.BinOp) and isinstance(one.left, ast.Constant):
            found.append((str(one.left.value), _type(one.right)))
    return found


def _type(value: ast.expr) -> str:
    """A type in words: `int64`, `compact count, then PartitionsV1`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        inner = _type(value.args[0])
        if value.func.id == "not_null":
            return f"{inner.removesuffix(' (-1: null)').removesuffix(' (0: null)')}, never null"
        return f"{ARRAYS[value.func.id]}, then {inner}"
    if isinstance(value, ast.Subscript):
        return ast.unparse(value)
    name = ast.unparse(value)
    if found := re.fullmatch(r"Int(\d+)([su])b", name):
        return f"{NUMBERS[found[2]]}int{found[1]}"
    return NAMED.get(name, name)


def _table(name: str, layout: Layout, fields: list[tuple[str, str]]) -> str:
    head = f"`{name}`{_size(layout)}:\n\n| at | field | type |\n| --- | --- | --- |\n"
    return head + "".join(f"| {_position(layout, field)} | {field} | {kind} |\n" for field, kind in fields)


def _size(layout: Layout) -> str:
    with suppress(SizeofError):
        return f", {layout.sizeof()} bytes"
    return ""


def _position(layout: Layout, field: str) -> str:
    with suppress(SizeofError):
        return str(layout.offset_of(field))
    return ""


def _component(name: str, topic: str) -> str:
    """The messages of a component, with their fields in the order of Kafka's schemas."""
    return f"### {topic[0].upper()}{topic[1:]}\n\n{''.join(_message(message) for message in component(name))}"


def _message(message: Message) -> str:
    number = "" if message.number is None else f" {message.number}"
    flexible = _range(message.flexible, message.versions)
    said = f"{message.role}{number}, version {_range(message.versions, None)}"
    said += "" if flexible == "none" else f", compact with tagged fields {flexible}"
    fields = ", ".join(_field(field, message.versions) for field in message.fields) or "no fields"
    return _item(f"**{message.name}** ({said}): {fields}")


def _field(field: MessageField, of: Versions) -> str:
    """A field in words: `producerId` int64, `nextProducerId` int64 (1+, tag 1)."""
    kind = f"{'array of ' if field.is_array else ''}{field.kind}{', nullable' if field.is_nullable else ''}"
    notes = [_range(field.versions, of)] if field.versions != of else []
    said = ", ".join(notes if field.tag is None else [*notes, f"tag {field.tag}"])
    inner = ", ".join(_field(one, field.versions) for one in field.fields)
    return f"`{field.name}` {kind}{f' ({said})' if said else ''}{f' {{{inner}}}' if inner else ''}"


def _range(versions: Versions, of: Versions | None) -> str:
    """Versions in words: `0-1`, `1+` where they go on to the last one."""
    if versions.lowest > versions.highest or (of is not None and versions.lowest > of.highest):
        return "none"
    if of is not None and versions.highest >= of.highest:
        return f"{versions.lowest}+"
    return str(versions.lowest) if versions.lowest == versions.highest else f"{versions.lowest}-{versions.highest}"
