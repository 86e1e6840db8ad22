"""Imported by every Python that has this folder in its path: the workers that a test wants to be killed in the act."""

import os
import signal
import sys


def end(event: str, arguments: tuple[object, ...]) -> None:
    """End this process like one that the system takes the memory of, when it opens a file whose path is deadly."""
    is_worker = any("pyspark" in word for word in sys.orig_argv)
    if event == "open" and is_worker and "/deadly/" in str(arguments[0]) and str(arguments[0]).endswith(".log"):
        os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(end)
