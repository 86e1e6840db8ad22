"""How a file is packed, told by its first bytes, and the stream of bytes inside a compressed one.

Archives      tar (by its checksum, so that the oldest form counts too), zip; a tar may be compressed.
Compression   gzip, zstd, bzip2, xz: one stream or several one after the other (as rotation by `cat` leaves them).
Damage        a stream gives all that can be unpacked before it breaks, and then says how it broke.
Limits        what one step unpacks is bounded, whatever the stream claims; xz and zstd streams that want more memory
              than `MEMORY` are refused.
Source        POSIX.1-2001 (ustar); APPNOTE.TXT of zip; RFC 1952, RFC 8878, the formats of bzip2 and xz.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, BinaryIO

STEP = 1 << 20
"""Bytes that one step unpacks at most."""
INPUT = 1 << 16
INPUT_ZSTD = 512
"""Bytes of zstd given at once: its decompressor has no bound but what comes in (a block of 128 KiB in 4 bytes)."""
MEMORY = 1 << 27
BLOCK = 512
"""A block of a tar."""


class Packing(StrEnum):
    """What a file is packed as."""

    TAR = "tar"
    ZIP = "zip"
    COMPRESSED = "compressed"
    FOREIGN = "an archive of a kind that is not read"


class Damaged(Exception):
    """A packed file ends or breaks where it should not; its text says how."""


MAGICS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04")
_OF_PROGRAMS, _NAME_OF_MEMBER = (b"META-INF/", b"[Content_Types]", b"mimetype"), 30
"""First members of zips that are programs or documents, and where their names stand."""
_FOREIGN = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x04\x22\x4d\x18")
LONGEST_MAGIC = 10


def compression_of(head: bytes) -> str | None:
    """Return the name of the compression that a file begins with, None if with none."""
    found = next((name for magic, name in MAGICS if head.startswith(magic)), None)
    if found == "bzip2" and not (head[3:4].isdigit() and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")):
        return None
    return found


def packing_of(file: BinaryIO) -> Packing | None:
    """Tell from its content how a file is packed, None if it is not; leaves the file at its beginning."""
    head = file.read(BLOCK)
    file.seek(0)
    if head.startswith(_ZIP):
        return None if head.startswith(_OF_PROGRAMS, _NAME_OF_MEMBER) else Packing.ZIP
    if head.startswith(_FOREIGN):
        return Packing.FOREIGN
    name = compression_of(head)
    if name is None:
        return Packing.TAR if is_tar(head) else None
    try:
        inner = _first(unpacked(file, name), BLOCK)
    finally:
        file.seek(0)
    return Packing.TAR if is_tar(inner) else Packing.COMPRESSED


def is_tar(block: bytes) -> bool:
    """Whether a block is the header of a tar's member: its checksum counts the bytes, its own field as blanks."""
    if len(block) < BLOCK or not block[0]:
        return False
    digits = block[148:156].strip(b" \x00")
    if not digits or not digits.isdigit() or any(digit > ord("7") for digit in digits):
        return False
    return int(digits, 8) == sum(block[:148]) + sum(block[156:BLOCK]) + 8 * ord(" ")


def unpacked(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield what a compressed file holds in pieces of some MiB at most.

    Raises:
        Damaged: behind the last piece that could be unpacked, when the stream is cut or broken.
    """
    source = _Input(file, INPUT_ZSTD if name == "zstd" else INPUT)
    while source.begins_with() == name:
        try:
            yield from _stream(_DECOMPRESSORS[name](), source, name)
        except (zlib.error, lzma.LZMAError, OSError, EOFError, MemoryError, ValueError) as error:
            raise Damaged(f"the {name} stream is broken ({error})") from error
    if source.pending:
        raise Damaged(f"what stands behind the {name} stream is none")


def _stream(stream: Any, source: _Input, name: str) -> Iterator[bytes]:
    """One stream of a file; what stands behind it goes back."""
    while not stream.eof:
        data = source.take()
        yield from _fed(stream, data)
        if not data and not stream.eof:
            raise Damaged(f"the {name} stream is cut off")
    source.pending = stream.unused_data + source.pending


def _fed(stream: Any, data: bytes) -> Iterator[bytes]:
    """What comes out when bytes go in; the three libraries give the rest in three ways."""
    while True:
        piece = stream.decompress(data, STEP)
        data = getattr(stream, "unconsumed_tail", b"")
        if piece:
            yield piece
        if stream.eof or not (data or getattr(stream, "needs_input", not piece) is False):
            return


class _Zstd:
    """zstd with the methods of the others; what comes out is bounded by what goes in (INPUT_ZSTD)."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard  # few files are packed like this

        self._stream = zstandard.ZstdDecompressor(max_window_size=MEMORY).decompressobj()
        self._broken = zstandard.ZstdError

    def decompress(self, data: bytes, _: int) -> bytes:
        """Unpack what goes in."""
        try:
            return self._stream.decompress(data) if data else b""
        except self._broken as error:
            raise ValueError(error) from error

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        """What stands behind its end."""
        return self._stream.unused_data


_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(wbits=16 + zlib.MAX_WBITS),
    "zstd": _Zstd,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MEMORY),
}


class _Input:
    """Bytes of a file in pieces, with room for some that come back."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.pending = b""
        self._file, self._size = file, size

    def take(self) -> bytes:
        """Some bytes; none at the end of the file."""
        data, self.pending = self.pending or self._file.read(self._size), b""
        return data

    def begins_with(self) -> str | None:
        """The compression that comes next; zeros between streams (blocks of a tape) are passed over."""
        while data := self.take():
            self.pending = data.lstrip(b"\x00")
            if self.pending:
                break
        if len(self.pending) < LONGEST_MAGIC:
            self.pending += self._file.read(LONGEST_MAGIC)
        return compression_of(self.pending)


def _first(pieces: Iterator[bytes], length: int) -> bytes:
    """The first bytes of a stream, fewer where it breaks."""
    found = b""
    try:
        for piece in pieces:
            found += piece
            if len(found) >= length:
                break
    except Damaged:
        pass
    return found[:length]
