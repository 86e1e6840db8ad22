"""Examples of README.md and docs/: commands and exactly what they print, at 80 columns.

Form    a block marked `console`: a line `$ kafkatx ...`, below it what it writes to standard output, then a blank line
        and the next such line. Behind a bar stands what a shell does with the output: `| head -24`.
"""

import contextlib
import os
import re
import shlex
import subprocess
from functools import cache
from unittest import mock

from tests.cases.commands import run
from tests.evidence import ROOT

BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
PROMPT = "$ "
SHELL_TOOLS = ("head", "tail", "sed", "grep", "cut")
"""What may stand behind a bar: POSIX's own, the same on every machine."""


def commands_of(block: str) -> list[str]:
    """Return the commands of a block, without their prompt."""
    return [line.removeprefix(PROMPT) for line in block.splitlines() if line.startswith(PROMPT)]


def renewed(text: str) -> str:
    """Return a page with what its examples print now."""
    return BLOCK.sub(lambda block: "\n".join(map(example, commands_of(block[0]))), text)


def example(command: str) -> str:
    """Return a command behind its prompt, and what it prints."""
    return f"{PROMPT}{command}\n{printed(command)}"


def printed(command: str) -> str:
    """Run a command line of kafkatx in the checkout, in this process; return what it and the tools behind it print."""
    own, bar, behind = command.partition(" | ")
    return through(behind, output_of(own)) if bar else output_of(own)


@cache
def output_of(command: str) -> str:
    """Return what a command writes to standard output; any exit code but 0 fails."""
    program, *words = shlex.split(command)
    assert program == "kafkatx", f"{command}: only kafkatx has examples"
    with contextlib.chdir(ROOT), mock.patch.dict(os.environ, {"COLUMNS": "80", "TERM": "dumb"}):
        done = run(*words)
    assert done.code == 0, f"{command}: exit code {done.code}: {done.err}"
    return done.out


def through(tools: str, text: str) -> str:
    """Return what a pipe of a shell's tools makes of a text."""
    names = {shlex.split(part)[0] for part in tools.split(" | ")}
    assert names <= set(SHELL_TOOLS), f"{names}: only {SHELL_TOOLS}"
    done = subprocess.run(["sh", "-c", tools], input=text, capture_output=True, text=True, check=True)
    return done.stdout
