"""The one door to construct: typed parse and build, and one error for bytes that do not have the declared shape.

construct comes without types; its `Any` is kept here. A `Layout` is a construct `Struct` that can be nested in others
like any construct (`"name" / Layout(...)`); `coded` makes a construct of two plain functions for encodings it lacks.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, Protocol

import construct


class Malformed(ValueError):
    """Bytes that do not have the declared shape. Readers turn it into a damage row; it never reaches a user."""


class Fields(Protocol):
    """The parsed fields of a layout, by name; their types are those of the declaration."""

    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...


class _Coded(construct.Construct):
    """A construct whose encoding is two functions: from a stream, to bytes."""

    def __init__(self, read: Callable[[BinaryIO], Any], write: Callable[[Any], bytes]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.read, self.write = read, write

    def _parse(self, stream: BinaryIO, context: object, path: str) -> Any:
        return self.read(stream)

    def _build(self, obj: Any, stream: BinaryIO, context: object, path: str) -> Any:
        stream.write(self.write(obj))
        return obj


class Layout:
    """A declared sequence of named fields, or one field (`Layout.of`)."""

    __slots__ = ("declaration",)

    def __init__(self, *fields: Any) -> None:
        self.declaration: Any = construct.Struct(*fields)  # type: ignore[no-untyped-call]

    @classmethod
    def of(cls, declaration: Any) -> Layout:
        """Return the layout of any construct; a layout is returned as it is."""
        if isinstance(declaration, Layout):
            return declaration
        layout = cls.__new__(cls)
        layout.declaration = declaration
        return layout

    def __rtruediv__(self, name: str) -> Any:
        return name / self.declaration

    def sizeof(self) -> int:
        """Return the size in bytes of a layout of fixed size."""
        return int(self.declaration.sizeof())

    def offset_of(self, name: str) -> int:
        """Return the position of a field; every field before it must have a fixed size."""
        position = 0
        for field in self.declaration.subcons:
            if field.name == name:
                return position
            position += int(field.sizeof())
        raise KeyError(name)

    def read(self, stream: BinaryIO) -> Any:
        """Parse from a stream's position on.

        Raises:
            Malformed: the bytes end too early or hold what the declaration forbids.
        """
        try:
            return self.declaration.parse_stream(stream)
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
        try:
            return bytes(self.declaration.build(value))
        except construct.ConstructError as error:
            raise Malformed(" ".join(str(error).split())) from None


def coded(read: Callable[[BinaryIO], Any], write: Callable[[Any], bytes]) -> Any:
    """Return a construct that parses with `read` and builds with `write`; both report trouble as `Malformed`."""
    return _Coded(read, write)


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
