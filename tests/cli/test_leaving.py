"""How the process of a command ends: at once, and yet with all that Python does before it clears its memory."""

import cProfile
import pstats
import subprocess
import sys

import pytest

from tests.evidence import FIXTURES

PAGE = str(sorted((FIXTURES / "pages" / "java").glob("*.md"))[0])
BESIDE = """
import atexit, sys, threading, time
atexit.register(lambda: print("was left to be done", flush=True))
def late():
    time.sleep(0.2)
    print("a thread ended", flush=True)
from kafkatx.__main__ import run
sys.argv = ["kafkatx", *sys.argv[1:]]
threading.Thread(target=late).start()
sys.stderr.write("without an end of line")
run()
"""


def ended(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--version"], 0),
        (["diagnose", PAGE, "--fail-on", "info"], 1),
        (["diagnose", "--no-such-option"], 2),
    ],
    ids=["done", "found", "refused"],
)
def test_a_process_ends_with_the_code_of_its_command(words, code):
    assert ended("-m", "kafkatx", *words).returncode == code


def test_threads_are_waited_for_and_what_is_left_is_done():
    done = ended("-c", BESIDE, "--version")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["a thread ended", "was left to be done"]
    assert done.stderr == "without an end of line"


def test_all_of_a_long_answer_is_written():
    whole = ended("-c", "from kafkatx.cli.app import main; main()", "diagnose", PAGE, "--json")
    assert ended("-m", "kafkatx", "diagnose", PAGE, "--json").stdout == whole.stdout
    assert len(whole.stdout) > 4096


def test_a_profile_of_a_command_is_written(tmp_path):
    """Python's own end, where something watches: else nothing would come of a profile."""
    kept = tmp_path / "profile"
    ended("-m", cProfile.__name__, "-o", str(kept), "-m", "kafkatx", "--version")
    assert pstats.Stats(str(kept)).total_calls > 1000
