"""Reads README.md: its commands, and the example of a diagnosis as it prints."""

import re
import shlex

from tests.evidence import ROOT

README = ROOT / "README.md"
COMMAND = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Return the shell blocks: the first shows a diagnosis, the second runs the tests."""
    return [block.rstrip("\n") for block in COMMAND.findall(README.read_text())]


def kafkatx_arguments() -> list[str]:
    """Return what the first command gives to kafkatx."""
    words = shlex.split(commands()[0])
    return words[next(at for at, word in enumerate(words) if word.endswith("bin/kafkatx")) + 1 :]
