"""Sequential reading in a fixed buffer; a thread fetches the next piece of a large file while this one is looked at."""

from __future__ import annotations

from threading import Thread

from kafkatx.sources.files import OpenFile

READ_AHEAD_ABOVE = 64 << 20
"""Size of a file from which a thread is worth its start."""
HEADROOM = 256 << 10
"""Room in front of a piece for the end of the one before, which is wanted again where a batch lies over the border."""


class ReadAhead:
    """Fills its buffer from any position; a walk that goes forward finds the next piece read already.

    Two buffers take turns, so the bytes of one piece stay valid until the next is asked for, and not longer.
    """

    def __init__(self, file: OpenFile, size: int) -> None:
        """Read `file` in pieces of `size` bytes."""
        self.file = file
        self.size = size
        self._threaded = file.size >= READ_AHEAD_ABOVE
        self._blocks = [bytearray(HEADROOM + size) for _ in range(2 if self._threaded else 1)]
        self._current = memoryview(b"")
        self._end = -1
        self._fetched = 0
        self._thread: Thread | None = None

    def fill(self, position: int) -> memoryview:
        """Return the bytes from `position` on: the buffer's size of them or more, fewer only at the end of the file."""
        piece = self._from_fetched(position) if self._thread is not None else None
        if piece is None:
            block = memoryview(self._blocks[0])[HEADROOM:]
            piece = block[: self.file.read_into(block, position)]
        self._current, self._end = piece, position + len(piece)
        if self._threaded and self._end < self.file.size:
            self._fetch()
        return piece

    def grow(self, size: int) -> None:
        """Read pieces of `size` bytes from now on."""
        self._join()
        self.size = size
        self._blocks = [bytearray(HEADROOM + size) for _ in self._blocks]

    def close(self) -> None:
        """Wait for the thread, so that the file can be closed."""
        self._join()

    def _fetch(self) -> None:
        """Begin to read what follows the current piece into the other buffer."""
        target = memoryview(self._blocks[1])[HEADROOM:]

        def read() -> None:
            self._fetched = self.file.read_into(target, self._end)

        self._thread = Thread(target=read, name="kafkatx-read-ahead", daemon=True)
        self._thread.start()

    def _from_fetched(self, position: int) -> memoryview | None:
        """Take the fetched piece, the end of the current one in front; None where `position` is not near its start."""
        self._join()
        repeated = self._end - position
        if not 0 <= repeated <= min(HEADROOM, len(self._current)):
            return None
        front = memoryview(self._blocks[1])[HEADROOM - repeated : HEADROOM]
        front[:] = self._current[len(self._current) - repeated :]
        self._blocks.reverse()
        return memoryview(self._blocks[0])[HEADROOM - repeated : HEADROOM + self._fetched]

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None
