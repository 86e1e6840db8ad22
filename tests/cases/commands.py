"""Runs commands of the application in this process, and says which there are."""

import contextlib
import functools
import gc
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import typer.main

from kafkatx.cli import app
from kafkatx.formats.file_names import parse_partition_folder
from tests.evidence import ROOT

FORMATS = ((), ("--json",))
BAR = re.compile(
    r"(?:[^\x00-\x1f\x7f-\x9f\u202e]|\x1b\[[0-9;]*m)*\d:\d\d:\d\d(?:\x1b\[0m)?(?:\r|\r?\n\r\x1b\[1A)\x1b\[2K"
)
"""How far slow work is, as often as it was drawn, until it is taken away: nothing in it acts but its own colours."""
_made_once = functools.cache(typer.main.get_command)
"""The parser of a command line, which takes longer to make than many a command to run."""
_FOLDERS: "list[tempfile.TemporaryDirectory[str]]" = []


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended, and what it wrote; `out` is what the bytes of `raw` say."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode("utf-8", "replace")


def registered() -> list[str]:
    """Return the names of all commands."""
    return sorted(typer.main.get_command(app.app).commands)  # type: ignore[attr-defined]


def options_of(command: str) -> set[str]:
    """Return the options that a command takes."""
    parameters = typer.main.get_command(app.app).commands[command].params  # type: ignore[attr-defined]
    return {name for parameter in parameters for name in parameter.opts}


def words_for(command: str, evidence: Path, *formats: str) -> list[str]:
    """Return a call of a command over a folder of evidence; a command unknown here is one that nobody thought of.

    A command that knows no formats (report writes a page) is called without.
    """
    words = {
        "collect": [str(evidence)],
        "compare": [str(evidence), str(evidence)],
        "diagnose": [str(evidence)],
        "dump": [str(evidence)],
        "explain": ["fenced_by_new_instance"],
        "export": [str(evidence), "--out", str(fresh_folder())],
        "history": [str(evidence), "--all"],
        "locate": [str(evidence), place_in(evidence), "--show-payloads"],
        "report": [str(evidence)],
        "verify": [str(evidence), "--records"],
    }[command]
    return [command, *words, *(formats if "--json" in options_of(command) else ())]


def fresh_folder() -> Path:
    """Return a folder that does not exist yet, far from all evidence; it goes with this process."""
    folder = tempfile.TemporaryDirectory(prefix="kafkatx-")
    _FOLDERS.append(folder)
    return Path(folder.name) / "tables"


def place_in(evidence: Path) -> str:
    """Return an offset of the first partition of which a segment is not empty."""
    for path in sorted(evidence.rglob("*.log")):
        folder = parse_partition_folder(path.parent.name)
        if folder and path.stat().st_size and not folder.topic.startswith("__"):
            return f"{folder.topic}-{folder.partition}:{int(path.stem)}"
    raise AssertionError(f"{evidence} holds no data")


def run(*words: str) -> Result:
    """Run a command line as `kafkatx` would, with standard output and error that are no terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code = 0
    try:
        with (
            mock.patch.object(sys, "argv", ["kafkatx", *words]),
            mock.patch.object(typer.main, "get_command", _made_once),
            _streams(out, err),
        ):
            app.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        gc.enable()
    return Result(code, out.buffer.getvalue(), err.buffer.getvalue().decode("utf-8", "replace"))  # type: ignore[attr-defined]


@contextlib.contextmanager
def _streams(out: io.TextIOWrapper, err: io.TextIOWrapper) -> Iterator[None]:
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


def started(*words: str, **streams: object) -> "subprocess.Popen[bytes]":
    """Start a command line in a process of its own."""
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "TERM")}
    variables |= {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"} | streams.pop("variables", {})  # type: ignore[operator]
    return subprocess.Popen([sys.executable, "-m", "kafkatx", *words], env=variables, **streams)  # type: ignore[call-overload,no-any-return]


def on_a_terminal(*words: str, **variables: str) -> bytes:
    """Return what a command line writes to a terminal of 80 columns."""
    master, slave = pty.openpty()
    process = started(*words, stdout=slave, stderr=slave, variables={"COLUMNS": "80", **variables})
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other end is closed
        while piece := os.read(master, 1 << 16):
            shown += piece
    os.close(master)
    process.wait()
    return shown
