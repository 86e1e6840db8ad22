"""Runs programs of an environment that knows nothing of the one that runs the tests."""

import os
import subprocess
from pathlib import Path

HIDDEN = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in HIDDEN}


def ended(*command: str | Path, folder: Path) -> tuple[int, str]:
    """Run a command in `folder`; returns its exit code and what it printed, errors included."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in `folder` and return what it printed; any exit code but 0 fails the test."""
    code, printed = ended(*command, folder=folder)
    assert code == 0, printed
    return printed
