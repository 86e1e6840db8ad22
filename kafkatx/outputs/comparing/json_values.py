"""Values of a JSON document of unknown origin, each asked for by name and type; what is none says where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, TypeVar

from kafkatx.terms.errors import NothingReadableError
from kafkatx.terms.printable import printable
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import parse_time

E = TypeVar("E", bound=Enum)
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
"""What a number of Kafka can be."""
KINDS = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
MOST_SHOWN = 60
"""Characters of a wrong value that are shown."""


class DamagedDocumentError(NothingReadableError):
    """A document that is not what it begins to be; the text says where."""


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object of a document; `where` names it (`findings[3]`, empty for the whole).

    Every function raises DamagedDocumentError for a value of another type. An absent value is None, as null is.
    """

    values: dict[str, Any]
    where: str = ""

    def optional_text(self, name: str) -> str | None:
        """Return a text, None where it is absent."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def text(self, name: str) -> str:
        """Return a text."""
        value = self.optional_text(name)
        if value is None:
            raise self._wrong(name, "a text")
        return value

    def optional_integer(self, name: str) -> int | None:
        """Return an integer of 64 bits, None where it is absent."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not LEAST <= value <= GREATEST:
            raise self._wrong(name, "an integer")
        return value

    def count(self, name: str) -> int:
        """Return how many there are."""
        value = self.optional_integer(name)
        if value is None or value < 0:
            raise self._wrong(name, "a number of things")
        return value

    def optional_truth(self, name: str) -> bool | None:
        """Return whether something holds, None where it is absent."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def time(self, name: str) -> int | None:
        """Return a time in milliseconds, None where it is absent."""
        text = self.optional_text(name)
        try:
            return None if text is None else parse_time(text)
        except (ValueError, OverflowError):
            raise self._wrong(name, "a time") from None

    def choice(self, name: str, kinds: type[E]) -> E:
        """Return the member of an enumeration that is named."""
        text = self.text(name)
        if text not in kinds.__members__:
            raise self._wrong(name, f"one of {', '.join(kinds.__members__)}")
        return kinds[text]

    def object(self, name: str) -> JsonObject:
        """Return an object."""
        return self._as_object(self.values.get(name), name)

    def objects(self, name: str) -> Iterator[JsonObject]:
        """Yield the objects of a list."""
        for at, value in enumerate(self._list(name)):
            yield self._as_object(value, f"{name}[{at}]")

    def _as_object(self, value: Any, name: str) -> JsonObject:
        if not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        return JsonObject(value, f"{self.where}.{name}" if self.where else name)

    def _list(self, name: str) -> list[Any]:
        found = self.values.get(name)
        if not isinstance(found, list):
            raise self._wrong(name, "a list")
        return found

    def _wrong(self, name: str, wanted: str, value: Any = None) -> DamagedDocumentError:
        place = f"{self.where}.{name}" if self.where else name
        given = self.values.get(name, value)
        if given is None:
            return DamagedDocumentError(f"{place} is missing: it must be {wanted}")
        shown = printable(given, MOST_SHOWN) if isinstance(given, str) else KINDS[type(given)]
        return DamagedDocumentError(f"{place} is not {wanted} ({shown})")
