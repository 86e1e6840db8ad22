"""The clock of a trial: what takes longer than `SECONDS` ends its process, with the stack on standard error."""

from __future__ import annotations

import faulthandler
import os
import resource
import sys
from pathlib import Path

SECONDS = float(os.environ.get("KAFKATX_FUZZ_SECONDS", "20"))
MOST_BYTES = 1_500_000_000
_running: list[float] = []


def begin() -> None:
    """Watch this process from here on."""
    _running.append(SECONDS)
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _has_proc() else 0
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (held + 2 * MOST_BYTES, hard))


def again() -> None:
    """Start the clock anew; nothing where nobody watches."""
    if _running:
        faulthandler.dump_traceback_later(_running[-1], exit=True, file=sys.__stderr__)


def end() -> None:
    """Stop the clock."""
    faulthandler.cancel_dump_traceback_later()


def highest_bytes() -> int:
    """Memory that this process has held at its highest."""
    unit = 1 if sys.platform == "darwin" else 1_024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _has_proc() -> bool:
    return Path("/proc/self/statm").exists()
