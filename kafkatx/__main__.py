"""`python -m kafkatx`, and what the command `kafkatx` runs: the process around the command line."""

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress


def run() -> None:
    """Run the command line in a process of its own."""
    gc.disable()  # a command makes next to no cycles, and collecting while numba is imported costs a tenth of a second
    from kafkatx.terms.kept_modules import KeptModules

    modules = KeptModules()
    modules.take_part()
    from kafkatx.cli.app import main

    try:
        main()
    except SystemExit as end:
        modules.keep()
        gc.freeze()  # what is there goes with the process: no cycles are looked for in it once more
        _leave(end.code if isinstance(end.code, int) else 0)
        raise


def _leave(code: int) -> None:
    """End the process as Python ends it, but let the system take what is in memory.

    Python takes its modules and objects apart one by one: some 20 ms of a small diagnosis. Threads are waited for, and
    what was left to be done at the end is done (CPython, `Py_FinalizeEx`: its steps before garbage). Who watches the
    process, a profiler or a debugger, is left to Python's own end.
    """
    if sys.gettrace() is None and sys.getprofile() is None:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


if __name__ == "__main__":
    run()
