"""Which fields of a schema a document has: `Definition.field`, so that what nothing ever has can be told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.schemas.shapes import Schema

WHOLE = "document"
"""What stands for the name of a definition where a field is one of the document itself."""
KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
    "null": type(None),
}  # fmt: skip


class Meeting:
    """A schema, and which of its fields were met with a value in the documents that were shown to it."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.met: set[str] = set()
        self.declared = set(self._declared(WHOLE, schema))
        for name, one in schema["$defs"].items():
            self.declared |= set(self._declared(name, one))

    def show(self, found: Any) -> None:
        """Note the fields that a document has; null is no value."""
        self._show(WHOLE, self.schema, found)

    def _declared(self, name: str, schema: Schema) -> Iterator[str]:
        for field, inner in schema.get("properties", {}).items():
            yield f"{name}.{field}"
            yield from self._declared(f"{name}.{field}", inner)
        for inner in _inner(schema):
            yield from self._declared(name, inner)

    def _show(self, name: str, schema: Schema, found: Any) -> None:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = self.schema["$defs"][name]
        if isinstance(found, dict):
            self._show_object(name, schema, found)
        for item in found if isinstance(found, list) else ():
            self._show(name, schema.get("items", {}), item)
        for inner in _inner(schema, items=False):
            if self._fits(inner, found):
                self._show(name, inner, found)
        for rule in schema.get("allOf", ()):
            if self._fits(rule["if"], found):
                self._show(name, rule["then"], found)

    def _show_object(self, name: str, schema: Schema, found: dict[str, Any]) -> None:
        known = schema.get("properties", {})
        for field, value in found.items():
            if field in known and value is not None:
                if "required" in schema:
                    self.met.add(f"{name}.{field}")
                self._show(f"{name}.{field}", known[field], value)

    def _fits(self, schema: Schema, found: Any) -> bool:
        """Whether a value may be meant by a part of a schema: by its kind, the names of its fields and constants."""
        if "$ref" in schema:
            return self._fits(self.schema["$defs"][schema["$ref"].rpartition("/")[2]], found)
        if "const" in schema:
            return bool(found == schema["const"])
        kinds = schema.get("type", [])
        if kinds and not isinstance(
            found, tuple(KINDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
        ):
            return False
        if not isinstance(found, dict):
            return found in schema.get("enum", [found])
        known, required = schema.get("properties", {}), schema.get("required", [])
        is_closed = schema.get("additionalProperties") is False
        return (
            found.keys() >= set(required)
            and (not is_closed or found.keys() <= known.keys())
            and all(found[name] == one["const"] for name, one in known.items() if "const" in one and name in found)
        )


def _inner(schema: Schema, *, items: bool = True) -> list[Schema]:
    """Return the parts of a schema that add no name of a field."""
    found = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("prefixItems", ())]
    return [*found, schema["items"]] if items and "items" in schema else found
