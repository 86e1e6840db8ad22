"""What a command loads before it says something: nothing that its evidence does not need, and little is compiled."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence import FIXTURES

PACKAGE = Path(__file__).parents[2] / "kafkatx"
WATCHED = """
import json, re._compiler, sys
from pathlib import Path
compiled, whole = [0], re._compiler._code
def code(*given, **named):
    compiled[0] += 1
    return whole(*given, **named)
re._compiler._code = code
from kafkatx.terms import kept
kept._places = lambda name, place=Path(sys.argv[1]): iter([place / name])
sys.argv = ["kafkatx", *sys.argv[2:]]
from kafkatx.cli.app import main
sys.dont_write_bytecode = False
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
DECLARED = {"construct", "kafkatx.segments.records"}
RULES = {"kafkatx.rules.registry", "kafkatx.histories.capture_model"}
LIBRARIES = {"construct", "html.entities", "numpy.ma"}
"""What a small diagnosis can do without of what it may need."""
CASE = str(FIXTURES / "k39-fenced")
BROKER = str(FIXTURES / "k39-fenced" / "broker-1")
PAGE = str(sorted((FIXTURES / "pages" / "java").glob("*.md"))[0])
ALWAYS = COMPILERS | ARROW | PYDANTIC
COMMANDS = {f"kafkatx.cli.{name}" for name in ("collect", "compare", "dump", "export", "history", "locate", "report")}
VERSION = COMMANDS | {"kafkatx.cli.diagnose", "kafkatx.cli.explain", "kafkatx.cli.verify"}


def started(kept: Path, *words: str) -> tuple[set[str], int]:
    """Names of what was loaded by a command, and how many patterns it compiled, where `kept` is what is kept."""
    watched = [sys.executable, "-c", WATCHED, str(kept), *words]
    done = subprocess.run(watched, capture_output=True, text=True, check=True)
    modules, compiled = json.loads(done.stderr.splitlines()[-1])
    return set(modules), compiled


@pytest.mark.parametrize(
    ("words", "absent", "most_modules", "most_patterns", "most_again"),
    [
        (["--version"], ALWAYS | NUMPY | RICH | TEXTS | RULES | LIBRARIES | VERSION, 20, 25, 25),
        (["--help"], ALWAYS | NUMPY | RICH | TEXTS | RULES | LIBRARIES, 40, 25, 25),
        (["explain", "proved"], ALWAYS | NUMPY | TEXTS | RULES | LIBRARIES | COMMANDS, 42, 38, 34),
        (["verify", BROKER], ALWAYS | TEXTS | RULES | ARCHIVES | LIBRARIES | DECLARED | COMMANDS, 122, 55, 45),
        (["diagnose", CASE], ALWAYS | ARCHIVES | LIBRARIES | COMMANDS, 549, 505, 54),
        (["diagnose", PAGE], ALWAYS | ARCHIVES | LIBRARIES | COMMANDS, 528, 380, 50),
    ],
    ids=["version", "help", "explain", "verify", "diagnose", "diagnose a page"],
)
def test_a_command_loads_what_it_needs(words, absent, most_modules, most_patterns, most_again, tmp_path):
    modules, compiled = started(tmp_path / "kept", *words)
    _, again = started(tmp_path / "kept", *words)
    assert absent & modules == set()
    assert len([name for name in modules if name.startswith("kafkatx")]) <= most_modules
    assert compiled <= most_patterns
    assert again <= most_again


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system does not list threads")
def test_numpy_starts_no_threads():
    """They would be of its library of linear algebra, one for each core, before anything is read."""
    counted = """
import os, sys
from kafkatx.cli.app import main
sys.argv = ["kafkatx", *sys.argv[1:]]
try:
    main()
except SystemExit:
    assert "numpy" in sys.modules
    os._exit(len(os.listdir("/proc/self/task")))
"""
    words = ["verify", str(FIXTURES / "k39-fenced" / "broker-1"), "--quiet"]
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    done = subprocess.run([sys.executable, "-c", counted, *words], capture_output=True, env=environment, check=False)
    assert done.returncode == 1


def test_patterns_of_names_are_not_kept(tmp_path):
    """Names that evidence holds go with the process: what is kept on disk is of the package alone."""
    page, kept = tmp_path / "app.log", tmp_path / "kept"
    line = "orders-6f7-aaaa  10:23:51.003  INFO  o.a.k.c.p.KafkaProducer - Closing the Kafka producer\n"
    page.write_text(line * 9)
    started(kept, "diagnose", str(page))
    files = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert {name for name, content in files.items() if len(content) > 10_000} == {"patterns", "tables"}
    assert [name for name, content in files.items() if b"6f7" in content] == []


def test_a_function_that_quotes_names_keeps_no_pattern():
    functions = [
        (path, one)
        for path in sorted(PACKAGE.rglob("*.py"))
        for one in ast.walk(ast.parse(path.read_text()))
        if isinstance(one, ast.FunctionDef)
    ]
    quoting = [(path, one) for path, one in functions if "re.escape(" in ast.unparse(one)]
    assert len(quoting) > 3
    assert [f"{path}: {one.name}" for path, one in quoting if re.search(r"\bregex\(", ast.unparse(one))] == []


FORBIDDEN = {
    r"^from dataclasses import (?:.*, )?dataclass\b": "terms/records.py has the decorator",
    r"\bre\.compile\(": "terms/regex.py compiles by need",
    r"\.re is ": "a pattern that is compiled by need is not the one that a match has: compare `pattern`",
}


@pytest.mark.parametrize("shape", FORBIDDEN, ids=FORBIDDEN.get)
def test_classes_and_patterns_are_made_by_need(shape):
    allowed = {PACKAGE / "terms" / name for name in ("records.py", "regex.py", "kept_patterns.py")}
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {FORBIDDEN[shape]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path not in allowed
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(shape, line)
    ]
    assert found == []


def test_a_case_makes_few_of_the_catalogues_texts(tmp_path):
    """Of 1,144 texts and 321 known defects objects are made when a line may be theirs."""
    asked = (
        WATCHED.rpartition("sys.stderr.write")[0]
        + """
from kafkatx.terms.catalogue.loading import known_defect
from kafkatx.text.logs.matching import pattern_at, patterns
sys.stderr.write("\\n" + json.dumps([one.cache_info().currsize for one in (patterns, pattern_at, known_defect)]))
"""
    )
    words = [sys.executable, "-c", asked, str(tmp_path / "kept"), "diagnose", CASE]
    subprocess.run(words, capture_output=True, check=True)
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    whole, texts, defects = json.loads(done.stderr.splitlines()[-1])
    assert whole == 0
    assert texts <= 60
    assert defects <= 10
