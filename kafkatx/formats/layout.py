"""The one door to construct: typed parse and build, and one error for bytes that do not have the declared shape.

construct comes without types; its `Any` is kept here. A `Layout` is a construct `Struct` that can be nested in others
like any construct (`"name" / Layout(...)`); `coded` makes a construct of two plain functions for encodings it lacks.
construct is loaded when something is parsed or built with a layout: most of what is read is read by kernels, which ask
a layout for its sizes and places only.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, BinaryIO, Protocol


class Malformed(ValueError):
    """Bytes that do not have the declared shape. Readers turn it into a damage row; it never reaches a user."""


class Fields(Protocol):
    """The parsed fields of a layout, by name; their types are those of the declaration."""

    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...


class _Part:
    """What may be named in a layout, and becomes a construct when it is asked."""

    __slots__ = ()

    @property
    def declaration(self) -> Any:
        """The construct."""
        raise NotImplementedError

    def sizeof(self) -> int:
        """Return the size in bytes of a part of fixed size; construct raises for any other."""
        return int(self.declaration.sizeof())

    def __rtruediv__(self, name: str) -> Any:
        return _Field(name, self)


class _Field(_Part):
    """A part with its name."""

    __slots__ = ("name", "part")

    def __init__(self, name: str, part: _Part) -> None:
        self.name, self.part = name, part

    @property
    def declaration(self) -> Any:
        return self.name / self.part.declaration

    def sizeof(self) -> int:
        return self.part.sizeof()


class _Number(_Part):
    """An integer: what construct calls it, and its size in bytes."""

    __slots__ = ("kind", "size")

    def __init__(self, kind: str, size: int) -> None:
        self.kind, self.size = kind, size

    @property
    def declaration(self) -> Any:
        return getattr(_construct(), self.kind)

    def sizeof(self) -> int:
        return self.size


Int8sb: Any = _Number("Int8sb", 1)
Int8ub: Any = _Number("Int8ub", 1)
Int16sb: Any = _Number("Int16sb", 2)
Int32sb: Any = _Number("Int32sb", 4)
Int32ub: Any = _Number("Int32ub", 4)
Int64sb: Any = _Number("Int64sb", 8)


class _Coded(_Part):
    """A construct whose encoding is two functions: from a stream, to bytes."""

    __slots__ = ("read", "write")

    def __init__(self, read: Callable[[BinaryIO], Any], write: Callable[[Any], bytes]) -> None:
        self.read, self.write = read, write

    @property
    def declaration(self) -> Any:
        return _coded_construct()(self.read, self.write)


@cache
def _construct() -> Any:
    import construct

    return construct


@cache
def _coded_construct() -> Any:
    class Coded(_construct().Construct):  # type: ignore[misc]
        def __init__(self, read: Callable[[BinaryIO], Any], write: Callable[[Any], bytes]) -> None:
            super().__init__()
            self.read, self.write = read, write

        def _parse(self, stream: BinaryIO, context: object, path: str) -> Any:
            return self.read(stream)

        def _build(self, obj: Any, stream: BinaryIO, context: object, path: str) -> Any:
            stream.write(self.write(obj))
            return obj

    return Coded


class Layout(_Part):
    """A declared sequence of named fields, or one field (`Layout.of`)."""

    __slots__ = ("_declaration", "_fields")

    def __init__(self, *fields: Any) -> None:
        self._fields: tuple[Any, ...] = fields
        self._declaration: Any = None

    @property
    def declaration(self) -> Any:
        """The construct of all fields."""
        if self._declaration is None:
            self._declaration = _construct().Struct(*map(_declared, self._fields))
        return self._declaration

    @classmethod
    def of(cls, declaration: Any) -> Layout:
        """Return the layout of any construct; a layout is returned as it is."""
        if isinstance(declaration, Layout):
            return declaration
        return _One(declaration)

    def sizeof(self) -> int:
        """Return the size in bytes of a layout of fixed size; construct raises for any other."""
        return sum(int(field.sizeof()) for field in self._fields)

    def offset_of(self, name: str) -> int:
        """Return the position of a field; every field before it must have a fixed size."""
        position = 0
        for field in self._fields:
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
        except _construct().ConstructError as error:
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
        except _construct().ConstructError as error:
            raise Malformed(" ".join(str(error).split())) from None


class _One(Layout):
    """The layout of one part, which has no name."""

    __slots__ = ()

    @property
    def declaration(self) -> Any:
        """The construct of the part."""
        if self._declaration is None:
            self._declaration = _declared(*self._fields)
        return self._declaration


def _declared(part: Any) -> Any:
    """A part of ours, or of construct, as a construct."""
    return part.declaration if isinstance(part, _Part) else part


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
