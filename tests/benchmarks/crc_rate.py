"""GB a CPU second of CRC-32C over memory, and of reading the same memory (a sum of words): least of several passes."""

import time
from collections.abc import Callable

import numpy as np

from kafkatx.kernels.crc32c import crc32c

SIZE, PASSES = 256 << 20, 7


def rate(work: Callable[[], object]) -> float:
    """GB a second of the fastest pass."""
    least = float("inf")
    for _ in range(PASSES):
        begun = time.process_time()
        work()
        least = min(least, time.process_time() - begun)
    return SIZE / least / 1e9


def main() -> None:
    """Print both."""
    data = np.random.default_rng(1).integers(0, 256, size=SIZE, dtype=np.uint8)
    words, compiled = data.view(np.uint64), crc32c.compiled
    data.flags.writeable = False
    compiled(data, 0, 1, 0)
    print(f"{rate(lambda: compiled(data, 0, SIZE, 0)):.2f} {rate(words.sum):.2f}")


if __name__ == "__main__":
    main()
