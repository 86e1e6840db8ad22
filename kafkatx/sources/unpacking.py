"""Unpacks archives and compressed files into a folder: streaming, within limits, only regular files below the folder.

Left out   absolute names and names with `..`; links, devices, fifos; encrypted members; each is named. Names are
           those of the archive but for `.` and empty components; a name that comes again replaces the first.
Limits     bytes that take room on disk, in proportion to the size of the archive; bytes of all kinds; files. Blocks of
           zeros, as preallocated indexes are full of, become holes and take no room. What stops at a limit keeps what
           was unpacked, and says so.
Damage     what could be read before the damage is kept; a zip without its directory is read by its members' headers.
"""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kafkatx.sources import places
from kafkatx.sources.packing import STEP, Damaged, Packing, compression_of, unpacked
from kafkatx.terms.records import dataclass

if TYPE_CHECKING:
    import tarfile
    import zipfile

GIB = 1 << 30
MOST_FILES = 1_000_000
MOST_PROBLEMS = 100
DEEPEST = 64
"""Folders below each other."""
LONGEST_HEADER = 1 << 20
"""Bytes of a header of a tar that only tells a long name."""
_ZEROS = bytes(STEP)


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be unpacked: `total` bytes of all kinds; of those that take room, `ratio` times the size of the archive.

    `smallest`: bytes that every archive may take; `reserve`: bytes of the disk that stay free.
    """

    total: int = 64 * GIB
    ratio: int = 200
    smallest: int = 4 * GIB
    reserve: int = GIB


class TooLarge(Exception):
    """A limit was reached; its text says which."""


@dataclass(slots=True)
class Allowance:
    """What was unpacked of one archive of `packed` bytes; `free` bytes of disk may be taken."""

    limits: Limits
    packed: int
    is_single: bool
    free: int
    solid: int = 0
    total: int = 0
    files: int = 0

    def spend(self, piece: bytes, is_hole: bool) -> None:
        """Count bytes before they are written; raises TooLarge."""
        self.total += len(piece)
        self.solid += 0 if is_hole and not self.is_single else len(piece)
        most = max(self.limits.smallest, self.limits.ratio * self.packed)
        if self.total > self.limits.total:
            raise TooLarge(f"it unpacks to more than {self.limits.total:,} bytes")
        if self.solid > most:
            raise TooLarge(f"it unpacks to more than {most:,} bytes out of {self.packed:,}")
        if self.solid > self.free:
            raise TooLarge(f"there is no room on disk to unpack more than {max(0, self.free):,} bytes")


@dataclass(slots=True)
class Unpacking:
    """One archive on its way into a folder; `problems` are sentences about what is not there, and why."""

    folder: Path
    room: Allowance
    problems: list[str] = field(default_factory=list)
    _more_problems: int = 0

    def write(self, name: str, pieces: Iterator[bytes]) -> None:
        """Write a member; one with a name that leads out of the folder is left out.

        Raises:
            Damaged, TooLarge: behind what was written.
        """
        target = self._target(name)
        if target is None:
            for piece in pieces:
                self.room.spend(piece, is_hole=True)
            return
        self.room.files += 1
        if self.room.files > MOST_FILES:
            raise TooLarge(f"it holds more than {MOST_FILES:,} files")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            out = target.open("wb")
        except OSError as error:
            self.leave_out(name, f"it can't be written ({error.strerror})")
            return
        with out:
            try:
                for piece in pieces:
                    is_hole = piece == _ZEROS[: len(piece)]
                    self.room.spend(piece, is_hole)
                    out.seek(len(piece), 1) if is_hole else out.write(piece)
            finally:
                out.truncate(out.tell())

    def leave_out(self, name: str, why: str) -> None:
        """Note a member that is not unpacked."""
        self.note(f"{name}: left out, {why}")

    def note(self, problem: str) -> None:
        """Note a problem; very many are counted only."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self._more_problems += 1
            self.problems[MOST_PROBLEMS - 1] = f"and {self._more_problems + 1:,} more like these"

    def _target(self, name: str) -> Path | None:
        """Where a member goes, None for a name that leads elsewhere."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts or "\x00" in name or (parts and parts[0].endswith(":")):
            self.leave_out(name, "its name leads out of the archive")
            return None
        if not parts or len(parts) > DEEPEST:
            self.leave_out(name, "its name is none that a file can have")
            return None
        return self.folder.joinpath(*parts)


def unpack(path: str, packing: Packing, folder: Path, limits: Limits) -> tuple[int, list[str]]:
    """Unpack a file into a folder; a compressed single file becomes `SINGLE` in it.

    Args:
        path: the packed file.
        packing: what it is packed as (packing.packing_of).
        folder: an empty folder.
        limits: what may be unpacked.

    Returns:
        the bytes that were written, and what is not there and why; raises OSError where the file can't be read.
    """
    packed, free = places.size(path), shutil.disk_usage(folder).free - limits.reserve
    unpacking = Unpacking(folder, Allowance(limits, packed, packing is Packing.COMPRESSED, free))
    with places.stream(path) as file:
        try:
            _UNPACKERS[packing](unpacking, file)
        except TooLarge as error:
            unpacking.note(f"stopped: {error}; what was unpacked before is read")
        except Damaged as error:
            unpacking.note(f"damaged: {error}; what stands before it is read")
    return unpacking.room.total, unpacking.problems


SINGLE = "content"


def _unpack_compressed(unpacking: Unpacking, file: BinaryIO) -> None:
    unpacking.write(SINGLE, _peeled(file))


def _peeled(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file without its compression, if it has one."""
    head = file.read(16)
    file.seek(0)
    name = compression_of(head)
    if name is not None:
        yield from unpacked(file, name)
    else:
        while piece := file.read(STEP):
            yield piece


class _Pipe:
    """What tarfile reads from: a stream, of which the headers may take no more than a bound."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.damage: Damaged | None = None
        self.allowed: int | None = LONGEST_HEADER
        self._pieces, self._piece, self._at = pieces, b"", 0

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end, also where the stream is broken."""
        if self._at >= len(self._piece):
            self._piece, self._at = self.next_piece(), 0
        data = self._piece[self._at : self._at + size]
        self._at += len(data)
        if self.allowed is not None:
            self.allowed -= len(data)
            if self.allowed < 0:
                raise Damaged(f"a header of more than {LONGEST_HEADER:,} bytes")
        return data

    @property
    def rest(self) -> bytes:
        """What was unpacked and is not read yet."""
        return self._piece[self._at :]

    def next_piece(self) -> bytes:
        """The next piece of the stream, empty behind the last."""
        try:
            return next(self._pieces, b"")
        except Damaged as error:
            self.damage = error
            return b""


def _unpack_tar(unpacking: Unpacking, file: BinaryIO) -> None:
    import tarfile

    pipe = _Pipe(_peeled(file))
    last = "its beginning"
    try:
        with tarfile.open(fileobj=pipe, mode="r|") as archive:  # type: ignore[call-overload]
            while (member := archive.next()) is not None:
                archive.members.clear()
                pipe.allowed = None
                _unpack_member(unpacking, archive, member)
                last, pipe.allowed = member.name, LONGEST_HEADER
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise pipe.damage or Damaged(f"the tar breaks behind {last} ({error})") from error
    if pipe.damage:
        raise pipe.damage
    if (pipe.rest + pipe.next_piece()).strip(b"\x00"):
        raise Damaged(f"the tar breaks behind {last}: what follows is no header")


def _unpack_member(unpacking: Unpacking, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    if member.isdir():
        return
    if member.issym() or member.islnk():
        unpacking.leave_out(member.name, f"a link to {member.linkname}")
    elif not member.isfile():
        unpacking.leave_out(member.name, "a device or pipe")
    elif (source := archive.extractfile(member)) is not None:
        unpacking.write(member.name, iter(lambda: source.read(STEP), b""))


def _unpack_zip(unpacking: Unpacking, file: BinaryIO) -> None:
    import zipfile

    try:
        if members_of_zip(file) > MOST_FILES:
            raise TooLarge(f"it holds more than {MOST_FILES:,} files")
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, struct.error, OSError, ValueError, EOFError) as error:
        _salvage_zip(unpacking, file)
        raise Damaged(f"the zip has no directory at its end ({error})") from error
    with archive:
        for member in archive.infolist():
            _unpack_zipped(unpacking, archive, member)


def _unpack_zipped(unpacking: Unpacking, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    import zipfile

    kind = member.external_attr >> 28
    name = member.filename.replace("\\", "/")
    if member.is_dir() or name.endswith("/"):
        return
    if member.flag_bits & 1:
        unpacking.leave_out(name, "encrypted")
    elif kind not in (0, 8):
        unpacking.leave_out(name, "a link" if kind == 10 else "a device or pipe")
    else:
        try:
            with archive.open(member) as source:
                unpacking.write(name, iter(lambda: source.read(STEP), b""))
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            unpacking.note(f"{name}: damaged ({error}); what stands before the damage is read")


_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")


def members_of_zip(file: BinaryIO) -> int:
    """Return how many members a zip says it has, before anything is made of its directory; 0 where it says nothing."""
    size = file.seek(0, 2)
    begin = max(0, size - (1 << 16) - _END.size)
    file.seek(begin)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    file.seek(0)
    if at < 0 or len(tail) < at + _END.size:
        return 0
    count, directory = int(_END.unpack_from(tail, at)[4]), int(_END.unpack_from(tail, at)[5])
    if at >= _LOCATOR.size and tail.startswith(b"PK\x06\x07", at - _LOCATOR.size):
        file.seek(int(_LOCATOR.unpack_from(tail, at - _LOCATOR.size)[2]))
        end = file.read(_END_64.size)
        file.seek(0)
        count, directory = (int(number) for number in _END_64.unpack(end)[7:9])
    return max(count, directory // _SMALLEST_ENTRY)


_SMALLEST_ENTRY = 46
_LOCAL = struct.Struct("<4s5H3L2H")


def _salvage_zip(unpacking: Unpacking, file: BinaryIO) -> None:
    """Read a zip without its directory: member by member, by their own headers."""
    following = 0
    while (at := _next_local(file, following)) is not None:
        file.seek(at)
        header = _LOCAL.unpack(file.read(_LOCAL.size))
        flags, method, size, name_size, extra = header[2], header[3], header[7], header[9], header[10]
        name = file.read(name_size).decode("utf-8" if flags & 0x800 else "cp437", "replace").replace("\\", "/")
        begin = following = at + _LOCAL.size + name_size + extra
        if flags & 1 or name.endswith("/") or method not in (0, 8):
            continue
        inflating = zlib.decompressobj(-zlib.MAX_WBITS)
        pieces = _inflated(file, begin, inflating) if method == 8 else _stored(file, begin, size)
        try:
            unpacking.write(name, pieces)
        except (zlib.error, Damaged) as error:
            unpacking.note(f"{name}: damaged ({error}); what stands before the damage is read")
        following = begin + (size if method == 0 else max(0, file.tell() - begin - len(inflating.unused_data)))


def _next_local(file: BinaryIO, at: int) -> int | None:
    """Position of the next header of a member with room for all of it, None behind the last."""
    file.seek(at)
    rest = b""
    while data := file.read(STEP):
        block = rest + data
        found = block.find(b"PK\x03\x04")
        if found >= 0:
            at = file.tell() - len(block) + found
            return at if file.seek(0, 2) >= at + _LOCAL.size else None
        rest = block[-3:]
    return None


def _stored(file: BinaryIO, begin: int, size: int) -> Iterator[bytes]:
    file.seek(begin)
    while size and (piece := file.read(min(STEP, size))):
        size -= len(piece)
        yield piece


def _inflated(file: BinaryIO, begin: int, inflating: Any) -> Iterator[bytes]:
    file.seek(begin)
    data = b""
    while not inflating.eof:
        data = data or file.read(STEP // 16)
        if not data:
            raise Damaged("it is cut off")
        if piece := inflating.decompress(data, STEP):
            yield piece
        data = inflating.unconsumed_tail


def _refuse(unpacking: Unpacking, file: BinaryIO) -> None:
    unpacking.note("an archive of a kind that is not read (7z, rar, lz4): unpack it and give the folder")


_UNPACKERS: dict[Packing, Callable[[Unpacking, BinaryIO], None]] = {
    Packing.TAR: _unpack_tar,
    Packing.ZIP: _unpack_zip,
    Packing.COMPRESSED: _unpack_compressed,
    Packing.FOREIGN: _refuse,
}
