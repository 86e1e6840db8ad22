"""Reads README.md: its commands, and the block that holds a diagnosis as it prints."""

import re
import shlex

from tests.evidence import ROOT

README = ROOT / "README.md"
COMMAND = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIAGNOSIS = re.compile(r"(?<=-->\n```text\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
"""The block behind the marker comment; there is one."""


def commands() -> list[str]:
    """Return the shell blocks: the first shows a diagnosis, the second runs the tests."""
    return [block.rstrip("\n") for block in COMMAND.findall(README.read_text())]


def kafkatx_arguments() -> list[str]:
    """Return what the first command gives to kafkatx."""
    words = shlex.split(commands()[0])
    return words[next(at for at, word in enumerate(words) if word.endswith("bin/kafkatx")) + 1 :]


def with_diagnosis(printed: str) -> str:
    """Return the README with `printed` in its block."""
    text, replaced = DIAGNOSIS.subn(lambda _: printed, README.read_text())
    assert replaced == 1, "README.md needs exactly one marked block"
    return text
