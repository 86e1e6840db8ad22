"""Python blocks that `kafkatx.diagnose` leaves allocated, and holds at its height, on two directories; JSON on stdout.

    python -m tests.benchmarks.blocks WARM_UP SMALL LARGE

All happens in one process after a run over WARM_UP, so that imports and compiled kernels are there before anything is
counted.
"""

import gc
import json
import sys
import threading
from pathlib import Path

SAMPLE_S = 0.002


def count(directory: Path) -> dict[str, int]:
    """Blocks before, after (the diagnosis still held) and at the highest sample while it ran."""
    import kafkatx

    gc.collect()
    before = sys.getallocatedblocks()
    with _Sampler() as sampler:
        diagnosis = kafkatx.diagnose([directory])
    gc.collect()
    after = sys.getallocatedblocks()
    del diagnosis
    return {"before": before, "after": after, "highest": max(sampler.highest, after)}


class _Sampler:
    """A thread that remembers the highest number of allocated blocks it saw."""

    def __init__(self) -> None:
        self.highest = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "_Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_S):
            self.highest = max(self.highest, sys.getallocatedblocks())


def main() -> None:
    """Warm up, count both, print."""
    warm_up, small, large = map(Path, sys.argv[1:])
    count(warm_up)
    print(json.dumps({"small": count(small), "large": count(large)}))


if __name__ == "__main__":
    main()
