"""The one door to construct: typed parse and build, and one error for bytes that do not have the declared shape.

construct comes without types; its `Any` is kept here. A `Layout` is a construct `Struct` that can be nested in others
like any construct (`"name" / Layout(...)`); `coded` makes a construct of two plain functions for encodings it lacks.

Many who need no more of a declaration than how long it is need no construct, which takes as long to load as a small
segment to walk: so a layout of `Whole` numbers alone is made a `Struct` when it first parses or builds.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, BinaryIO, NamedTuple, Protocol


class Malformed(ValueError):
    """Bytes that do not have the declared shape. Readers turn it into a damage row; it never reaches a user."""


class Fields(Protocol):
    """The parsed fields of a layout, by name; their types are those of the declaration."""

    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...


class NamedWhole(NamedTuple):
    """A field that is a whole number."""

    name: str
    of: Whole

    def sizeof(self) -> int:
        """Return its size in bytes."""
        return self.of.size

    def declared(self) -> Any:
        """Return it as construct has it."""
        import construct

        return self.name / getattr(construct, self.of.construct)


class Whole(NamedTuple):
    """A whole number as construct calls it, and its size in bytes; named as a construct is (`"name" / Int32sb`)."""

    construct: str
    size: int

    def __rtruediv__(self, name: str) -> NamedWhole:
        return NamedWhole(name, self)


Int8sb, Int16sb, Int32sb, Int64sb = Whole("Int8sb", 1), Whole("Int16sb", 2), Whole("Int32sb", 4), Whole("Int64sb", 8)
Int32ub = Whole("Int32ub", 4)


class Layout:
    """A declared sequence of named fields, or one field (`Layout.of`)."""

    __slots__ = ("_declaration", "_fields")

    def __init__(self, *fields: Any) -> None:
        self._fields, self._declaration = fields, None
        if not all(isinstance(field, NamedWhole) for field in fields):
            self._declaration = self._struct()

    def _struct(self) -> Any:
        import construct

        declared = [field.declared() if isinstance(field, NamedWhole) else field for field in self._fields]
        return construct.Struct(*declared)  # type: ignore[no-untyped-call]

    @property
    def declaration(self) -> Any:
        """The construct that it is."""
        if self._declaration is None:
            self._declaration = self._struct()
        return self._declaration

    @classmethod
    def of(cls, declaration: Any) -> Layout:
        """Return the layout of any construct; a layout is returned as it is."""
        if isinstance(declaration, Layout):
            return declaration
        layout = cls.__new__(cls)
        layout._fields, layout._declaration = (), declaration
        return layout

    def __rtruediv__(self, name: str) -> Any:
        return name / self.declaration

    def sizeof(self) -> int:
        """Return the size in bytes of a layout of fixed size."""
        if self._declaration is None:
            return sum(field.sizeof() for field in self._fields)
        return int(self._declaration.sizeof())

    def offset_of(self, name: str) -> int:
        """Return the position of a field; every field before it must have a fixed size."""
        position = 0
        for field in self._fields or self.declaration.subcons:
            if field.name == name:
                return position
            position += int(field.sizeof())
        raise KeyError(name)

    def read(self, stream: BinaryIO) -> Any:
        """Parse from a stream's position on.

        Raises:
            Malformed: the bytes end too early or hold what the declaration forbids.
        """
        declaration = self.declaration
        import construct

        try:
            return declaration.parse_stream(stream)
        except construct.ConstructError as error:
            raise Malformed(" ".join(str(error).split())) from None

    def parse_at(self, data: bytes, at: int = 0) -> tuple[Fields, int]:
        """Parse from `at` on and return the fields with the position behind them; raises `Malformed`."""
        stream = io.BytesIO(data)
        stream.seek(at)
        fields: Fields = self.read(stream)
        return fields, stream.tell()

    def parse(self, data: bytes) -> Fields:
        """Parse all of `data`; bytes left over are `Malformed` too, since no version of a layout ends early."""
        fields, end = self.parse_at(data)
        if end != len(data):
            raise Malformed(f"{len(data) - end} bytes left over behind the last field")
        return fields

    def each(self, data: bytes) -> Iterator[Fields]:
        """Yield the whole entries of a file of entries of fixed size; a part of one at the end is not an entry."""
        size = self.sizeof()
        for at in range(0, len(data) - size + 1, size):
            yield self.parse_at(data, at)[0]

    def build(self, fields: Mapping[str, Any] | Fields) -> bytes:
        """Return the bytes of `fields`; raises `Malformed` for a value that its field can't hold."""
        return self.written(fields)

    def written(self, value: Any) -> bytes:
        """Return the bytes of a value of any kind (`build` for what `of` made)."""
        declaration = self.declaration
        import construct

        try:
            return bytes(declaration.build(value))
        except construct.ConstructError as error:
            raise Malformed(" ".join(str(error).split())) from None


def coded(read: Callable[[BinaryIO], Any], write: Callable[[Any], bytes]) -> Any:
    """Return a construct that parses with `read` and builds with `write`; both report trouble as `Malformed`."""
    return _coded_class()(read, write)


@cache
def _coded_class() -> Any:
    import construct

    class Coded(construct.Construct):
        """A construct whose encoding is two functions: from a stream, to bytes."""

        def __init__(self, read: Callable[[BinaryIO], Any], write: Callable[[Any], bytes]) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self.read, self.write = read, write

        def _parse(self, stream: BinaryIO, context: object, path: str) -> Any:
            return self.read(stream)

        def _build(self, obj: Any, stream: BinaryIO, context: object, path: str) -> Any:
            stream.write(self.write(obj))
            return obj

    return Coded


def sized(length: Any, body: Layout) -> Layout:
    """Return a layout of `length` (an integer construct) and that many bytes, which hold `body` and nothing else."""
    size = Layout.of(length)

    def read(stream: BinaryIO) -> Any:
        return body.parse(take(stream, size.read(stream)))

    def write(value: Any) -> bytes:
        data = body.written(value)
        return size.written(len(data)) + data

    return Layout.of(coded(read, write))


def take(stream: BinaryIO, size: int) -> bytes:
    """Return exactly `size` bytes of a stream; raises `Malformed` if it has fewer or `size` is negative."""
    data = stream.read(size) if size >= 0 else b""
    if size < 0 or len(data) != size:
        raise Malformed(f"{size} bytes expected, {len(data)} there")
    return data
