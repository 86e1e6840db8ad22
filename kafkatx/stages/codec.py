"""Facts as bytes that anybody may hand us: decoding builds what is registered (fact_types.py), and nothing else.

Bytes     size of what follows once it is decompressed (8, little endian); a zstd frame of: length of the tree (4), the
          tree as JSON, the buffers one behind the other. The root of the tree is [value, [length of each buffer]].
Tree      null, true, false, numbers and strings are themselves; all else is a list that begins with what it is:
          l list, t tuple, s set, d dictionary (key, value, ...), b bytes, u a string that is no Unicode, e enumeration
          (class, member), o object (class, fields), a array of rows (dtype, rows; column behind column in its buffer).
Limits    LARGEST bytes; what is not as declared is refused by FactsError, as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.stages.fact_types import ENUMS, FIELDS, OBJECTS, ROWS, FieldsOf, fits, row_type
from kafkatx.stages.facts import FactsError

LARGEST = 1 << 30
"""Bytes of a fact before it is compressed: more is no fact of ours."""
LEVEL = 1
"""zstd: columns of headers shrink to a tenth at any level, so the fastest is taken."""
SIZE, LENGTH = 8, 4


def encode(value: Any) -> bytes:
    """Encode plain data of registered classes; equal values give equal bytes. Raises TypeError for what is none."""
    buffers: list[bytes] = []
    tree = json.dumps([_tree(value, buffers), [len(one) for one in buffers]], separators=(",", ":")).encode()
    plain = b"".join([len(tree).to_bytes(LENGTH, "little"), tree, *buffers])
    if len(plain) > LARGEST:
        raise OverflowError(f"a fact of {len(plain):,} bytes")
    return len(plain).to_bytes(SIZE, "little") + bytes(pa.Codec("zstd", LEVEL).compress(plain, asbytes=True))


def decode(data: bytes, declared: Any) -> Any:
    """Return what was encoded; `declared` is the type that it must have, as in an annotation, or a dtype.

    Raises FactsError for bytes that are anything else.
    """
    try:
        value = _Decoder(data).value()
    except FactsError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError, OSError, MemoryError) as error:
        raise FactsError(f"not a fact: {type(error).__name__}: {error}") from error
    if not fits(declared, value):
        raise FactsError(f"not a fact: {type(value).__name__} where {declared} is expected")
    return value


def _tree(value: Any, buffers: list[bytes]) -> Any:
    """A value as JSON has it; bytes go to the buffers."""
    kind = type(value)
    if kind in (int, bool, float) or value is None:
        return value
    if kind is str:
        return value if _is_unicode(value) else ["u", _kept(value.encode("utf-8", "surrogatepass"), buffers)]
    if kind in _ENCODERS:
        return _ENCODERS[kind](value, buffers)
    if kind in FIELDS:
        return ["o", kind.__name__, *(_tree(getattr(value, one.name), buffers) for one in FIELDS[kind])]
    if isinstance(value, Enum) and ENUMS.get(kind.__name__) is kind:
        return ["e", kind.__name__, value.name]
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    raise TypeError(f"{kind.__name__} is no kind of fact")


def _is_unicode(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kept(data: bytes, buffers: list[bytes]) -> int:
    buffers.append(data)
    return len(buffers) - 1


def _sequence(tag: str) -> Callable[[Any, list[bytes]], Any]:
    return lambda value, buffers: [tag, *(_tree(member, buffers) for member in value)]


def _set(value: Any, buffers: list[bytes]) -> Any:
    return ["s", *(_tree(member, buffers) for member in sorted(value))]


def _dictionary(value: Any, buffers: list[bytes]) -> Any:
    return ["d", *(_tree(one, buffers) for entry in value.items() for one in entry)]


def _rows(value: Any, buffers: list[bytes]) -> Any:
    data = b"".join(np.ascontiguousarray(value[name]).tobytes() for name in value.dtype.names or ())
    return ["a", row_type(value), len(value), _kept(data, buffers)]


_ENCODERS: dict[type, Callable[[Any, list[bytes]], Any]] = {
    list: _sequence("l"),
    tuple: _sequence("t"),
    set: _set,
    dict: _dictionary,
    bytes: lambda value, buffers: ["b", _kept(value, buffers)],
    np.ndarray: _rows,
}


class _Decoder:
    """Reads one fact. Whatever Python raises over bytes that are none is caught by `decode`."""

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:SIZE], "little")
        if len(data) <= SIZE or not LENGTH <= size <= LARGEST:
            raise FactsError(f"not a fact: {size:,} bytes in {len(data):,}")
        plain = memoryview(pa.Codec("zstd").decompress(data[SIZE:], size))
        end = LENGTH + int.from_bytes(plain[:LENGTH], "little")
        self._tree, lengths = json.loads(bytes(plain[LENGTH:end]))
        self._buffers: list[memoryview] = []
        for length in lengths:
            if length < 0 or end + length > size:
                raise FactsError("not a fact: it is cut short")
            self._buffers.append(plain[end : end + length])
            end += length
        if end != size:
            raise FactsError(f"not a fact: {size - end:,} bytes too many")

    def value(self) -> Any:
        return self._value(self._tree)

    def _value(self, tree: Any) -> Any:
        if not isinstance(tree, list):
            if isinstance(tree, dict):
                raise FactsError("not a fact: a JSON object")
            return tree
        return _DECODERS[tree[0]](self, tree)

    def _members(self, tree: list[Any]) -> list[Any]:
        return [self._value(member) for member in tree[1:]]

    def _dictionary(self, tree: list[Any]) -> Any:
        members = self._members(tree)
        return dict(zip(members[::2], members[1::2], strict=True))

    def _buffer(self, tree: list[Any]) -> memoryview:
        if tree[-1] < 0:
            raise FactsError("not a fact: a buffer before the first")
        buffer: memoryview = self._buffers[tree[-1]]
        return buffer

    def _enumerated(self, tree: list[Any]) -> Any:
        _, kind, member = tree
        return ENUMS[kind][member]

    def _object(self, tree: list[Any]) -> Any:
        kind = OBJECTS[tree[1]]
        fields: FieldsOf = FIELDS[kind]
        members = [self._value(member) for member in tree[2:]]
        for one, member in zip(fields, members, strict=True):
            if not one.fits(member):
                raise FactsError(f"not a fact: {kind.__name__}.{one.name} is {type(member).__name__}")
        return kind(*members)

    def _rows(self, tree: list[Any]) -> Any:
        _, name, length, _ = tree
        dtype, data = ROWS[name], self._buffer(tree)
        if length < 0 or length * sum(dtype[column].itemsize for column in dtype.names or ()) != len(data):
            raise FactsError(f"not a fact: {length:,} rows of {name} in {len(data):,} bytes")
        rows, at = np.zeros(length, dtype), 0
        for column in dtype.names or ():
            end = at + length * dtype[column].itemsize
            rows[column] = np.frombuffer(data[at:end], dtype[column])
            at = end
        return rows


_DECODERS: dict[str, Callable[[_Decoder, list[Any]], Any]] = {
    "l": _Decoder._members,
    "t": lambda self, tree: tuple(self._members(tree)),
    "s": lambda self, tree: set(self._members(tree)),
    "d": _Decoder._dictionary,
    "b": lambda self, tree: bytes(self._buffer(tree)),
    "u": lambda self, tree: bytes(self._buffer(tree)).decode("utf-8", "surrogatepass"),
    "e": _Decoder._enumerated,
    "o": _Decoder._object,
    "a": _Decoder._rows,
}
