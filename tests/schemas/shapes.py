"""JSON Schema (draft 2020-12) from Python's types: what a value of a type looks like once it is JSON.

Dataclasses become definitions with all their fields required and no others allowed; absent is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from kafkatx.words.values import Data, Duration, Instant, NameList, OffsetRange, told_fields

Schema = dict[str, Any]

INTEGER: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
STRING: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
ANYTHING: Schema = {}
TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
"""A time as `terms/times.iso` writes it: UTC, milliseconds."""

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def or_null(schema: Schema) -> Schema:
    """Return the schema of a value that may be absent."""
    kind = schema.get("type")
    if "enum" in schema:
        return {"enum": list(dict.fromkeys([*schema["enum"], None]))}
    if isinstance(kind, str | list):
        kinds = kind if isinstance(kind, list) else [kind]
        return {**schema, "type": list(dict.fromkeys([*kinds, "null"]))}
    return {"anyOf": [schema, {"type": "null"}]}


def array(items: Schema) -> Schema:
    """Return the schema of a list of alike values."""
    return {"type": "array", "items": items}


def choice(*values: str | None) -> Schema:
    """Return the schema of one of some values."""
    return {"enum": list(values)}


def names_of(kind: type[Enum]) -> Schema:
    """Return the schema of an enumeration that is written by its names."""
    return choice(*(one.name for one in kind))


def values_of(kind: type[Enum]) -> Schema:
    """Return the schema of an enumeration that is written by its values."""
    return {"enum": [one.value for one in kind]}


def record(properties: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of an object with these properties and no others; `optional` ones may be left out."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def document(
    title: str, properties: Mapping[str, Schema], shapes: Shapes, optional: Mapping[str, Schema] | None = None
) -> Schema:
    """Return the schema of a whole document, with all definitions that it leads to."""
    return {
        "$schema": DRAFT,
        "title": title,
        **record(properties, optional),
        "$defs": dict(sorted(shapes.definitions.items())),
    }


class Shapes:
    """From types to schemas; classes become definitions, written once, that others refer to."""

    def __init__(self, enums: Callable[[type[Enum]], Schema] = values_of) -> None:
        self.definitions: dict[str, Schema] = {}
        self._enums = enums

    def define(self, name: str, schema: Schema) -> Schema:
        """Note a definition; returns the reference to it."""
        assert self.definitions.setdefault(name, schema) == schema, f"two definitions are called {name}"
        return {"$ref": f"#/$defs/{name}"}

    def as_it_is(self, kind: type[Any], /, **instead: Schema) -> Schema:
        """Return the schema of a dataclass as `asdict` writes it, with other schemas for the fields named."""
        hints = get_type_hints(kind)
        shown = {one.name: instead.get(one.name) or self.of(hints[one.name]) for one in fields(kind)}
        return self.define(kind.__name__, record(shown))

    def facts(self, kind: type[Any], name: str = "") -> Schema:
        """Return the schema of a class of facts as `words/values.as_json` writes it."""
        hints = get_type_hints(kind)
        shown = {
            f"{field}_ms" if is_duration else field: self.of(hints[field], of_facts=True)
            for field, is_duration in told_fields(kind)
        }
        return self.define(name or _spoken(kind), record(shown))

    def of(self, hint: Any, *, of_facts: bool = False) -> Schema:
        """Return the schema of any type."""
        inner = get_args(hint)
        if get_origin(hint) in (Union, UnionType):
            return self._union(inner, of_facts)
        if get_origin(hint) is Literal:
            return choice(*inner)
        if get_origin(hint) is not None:
            return self._container(get_origin(hint), inner, of_facts)
        return self._class(hint, of_facts)

    def _union(self, kinds: tuple[Any, ...], of_facts: bool) -> Schema:
        known = [self.of(kind, of_facts=of_facts) for kind in kinds if kind is not NoneType]
        found = known[0] if len(known) == 1 else {"anyOf": known}
        return or_null(found) if NoneType in kinds else found

    def _container(self, kind: Any, inner: tuple[Any, ...], of_facts: bool) -> Schema:
        if issubclass(kind, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1], of_facts=of_facts)}
        items = [self.of(one, of_facts=of_facts) for one in inner if one is not Ellipsis]
        if kind is not tuple or Ellipsis in inner:
            return array(items[0])
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _class(self, kind: Any, of_facts: bool) -> Schema:
        if kind is Any or kind is object:
            return ANYTHING
        if issubclass(kind, Enum):
            return names_of(kind) if of_facts else self._enums(kind)
        if is_dataclass(kind):
            return self.facts(kind) if of_facts else self.as_it_is(kind)
        return _plain(kind, self)


def _plain(kind: type[Any], shapes: Shapes) -> Schema:
    """Return the schema of a class that is no container."""
    if kind is Instant:
        return or_null(TIME)  # of a year that no calendar has
    if issubclass(kind, Data):
        return array(shapes.facts(OffsetRange))
    if issubclass(kind, NameList):
        return array(STRING)
    if issubclass(kind, bool):
        return BOOLEAN
    if issubclass(kind, Duration | int):
        return INTEGER
    if issubclass(kind, float):
        return {"type": "number"}
    if issubclass(kind, str):
        return STRING
    raise TypeError(f"what {kind} looks like as JSON is not known; say so in {__name__}")


def _spoken(kind: type[Any]) -> str:
    """Return what a class of facts is called among all rules'."""
    home = re.sub(r"^kafkatx\.(rules\.)?", "", kind.__module__)
    return kind.__name__ if home.startswith("words.") else f"{home}.{kind.__name__}"
