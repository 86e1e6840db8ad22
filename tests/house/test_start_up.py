"""What a command loads before it says something: nothing that its evidence does not need, and little is compiled."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence import FIXTURES

PACKAGE = Path(__file__).parents[2] / "kafkatx"
WATCHED = """
import json, re._compiler, sys
compiled, whole = [0], re._compiler.compile
def compile(*given, **named):
    compiled[0] += 1
    return whole(*given, **named)
re._compiler.compile = compile
sys.argv = ["kafkatx", *sys.argv[1:]]
from kafkatx.cli.app import main
try:
    main()
except SystemExit:
    pass
sys.stderr.write("\\n" + json.dumps([sorted(sys.modules), compiled[0]]))
"""
COMPILERS = {"numba", "llvmlite"}
ARROW, PYDANTIC, NUMPY, RICH = {"pyarrow"}, {"pydantic"}, {"numpy"}, {"rich"}
TEXTS = {"kafkatx.text.pages.parts", "kafkatx.text.logs.reading", "kafkatx.text.dump.records"}
ARCHIVES = {"tarfile", "zipfile", "lz4", "zstandard", "snappy", "concurrent.futures", "zoneinfo"}
RULES = {"kafkatx.rules.registry", "kafkatx.histories.capture_model"}
CASE = str(FIXTURES / "k39-fenced")
PAGE = str(sorted((FIXTURES / "pages" / "java").glob("*.md"))[0])
ALWAYS = COMPILERS | ARROW | PYDANTIC


def started(*words: str) -> tuple[set[str], int]:
    """Names of what was loaded by a command, and how many patterns it compiled."""
    done = subprocess.run([sys.executable, "-c", WATCHED, *words], capture_output=True, text=True, check=True)
    modules, compiled = json.loads(done.stderr.splitlines()[-1])
    return set(modules), compiled


@pytest.mark.parametrize(
    ("words", "absent", "most_patterns"),
    [
        (["--version"], ALWAYS | NUMPY | RICH | TEXTS | RULES, 30),
        (["--help"], ALWAYS | NUMPY | RICH | TEXTS | RULES, 40),
        (["explain", "proved"], ALWAYS | NUMPY | TEXTS | RULES, 90),
        (["verify", str(FIXTURES / "k39-fenced" / "broker-1")], ALWAYS | TEXTS | RULES | ARCHIVES, 90),
        (["diagnose", CASE], ALWAYS | ARCHIVES, 520),
        (["diagnose", PAGE], ALWAYS | ARCHIVES, 400),
    ],
    ids=["version", "help", "explain", "verify", "diagnose", "diagnose a page"],
)
def test_a_command_loads_what_it_needs(words, absent, most_patterns):
    modules, compiled = started(*words)
    assert absent & modules == set()
    assert compiled <= most_patterns


FORBIDDEN = {
    r"^from dataclasses import (?:.*, )?dataclass\b": "terms/records.py has the decorator",
    r"\bre\.compile\(": "terms/regex.py compiles by need",
    r"\.re is ": "a pattern that is compiled by need is not the one that a match has: compare `pattern`",
}


@pytest.mark.parametrize("shape", FORBIDDEN, ids=FORBIDDEN.get)
def test_classes_and_patterns_are_made_by_need(shape):
    allowed = {PACKAGE / "terms" / name for name in ("records.py", "regex.py")}
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {FORBIDDEN[shape]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path not in allowed
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(shape, line)
    ]
    assert found == []
