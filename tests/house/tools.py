"""Runs the house's own tools (ruff, mypy, import-linter, kafkatx) from the environment that runs the tests."""

import os
import subprocess
import sys

from tests.evidence import ROOT


def output_of(*arguments: str, **environment: str) -> tuple[int, str]:
    """Run this Python with `arguments` in the checkout; return its exit code and all it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def printed_by_kafkatx(*arguments: str, **environment: str) -> str:
    """Run kafkatx in the checkout and return its standard output; any exit code but 0 fails the test."""
    done = subprocess.run(
        [sys.executable, "-m", "kafkatx", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
