"""Every command line of README.md and docs/ runs: those of kafkatx here, over what placeholders stand for.

A line of a shell runs in a folder that has the files that the documents name; Kafka's own tools are stand-ins that note
what they are called with. What can't run here is named below with its reason, and is held to the options that exist.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.cases.commands import options_of, registered, run
from tests.evidence import ROOT
from tests.house.command_lines import CommandLine, command_lines, lines_of, pages
from tests.house.placeholders import APP_LOG, BROKER, SERVER_LOG, SERVER_PROPERTIES, STAND_FOR
from tests.house.readme import commands as commands_of_readme

NOT_HERE = {
    "--engine spark": "needs a Spark of its own: tests/spark runs it",
    "s3://": "needs a network: tests/cases/test_stores.py reads a store of this machine",
    "export fixtures/k011-*": "tests/spark/test_spark_page.py runs it, and asks what it wrote",
}
"""Commands of kafkatx of which only the options are checked."""
OF_OTHERS = {
    "pip install 'kafkatx[spark]'": "installs from an index",
    "PYSPARK_PYTHON=/opt/venv/bin/python spark-submit --master 'local[2]' page.py": "tests/spark submits a program",
    **dict.fromkeys(commands_of_readme(), "tests/house/test_readme.py, and .ci/run, which is the second"),
}
"""Lines that call other programs and are not run."""
ADMIN_TOOL = {
    "list": set(),
    "describe": {"--transactional-id"},
    "describe-producers": {"--topic", "--partition", "--broker-id"},
    "find-hanging": {"--topic", "--partition", "--broker-id", "--max-transaction-timeout"},
    "abort": {"--topic", "--partition", "--start-offset"},
}
"""Commands of kafka-transactions.sh and their options (Kafka 3.0 and later)."""
OUTPUT = ("-o", "--out")
WORDS = re.compile(r"[A-Z][A-Z.:-]+[A-Z.]|(?<![A-Za-z0-9])N(?!\w)")


def filled(words: list[str]) -> list[str]:
    """Put what placeholders stand for in their place, and the files that a pattern matches."""
    stood = [STAND_FOR.get(word, word) for word in words]
    return [path for word in stood for path in (matching(word) if "*" in word else [word])]


def matching(pattern: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern)) or [pattern]


FOUND = [line for page in pages() for line in command_lines(page)]
LINES = {line.text: line for line in sorted(FOUND, key=lambda line: not line.in_prose)}
"""Each line once; what stands in a block as well is no mere mention."""
OURS = list({tuple(sorted(filled(shlex.split(text)))): line for text, line in LINES.items() if line.is_ours}.values())
"""Of lines that are the same when they are filled, but for the order of what is given, one is run."""
OTHERS = [line for line in LINES.values() if not line.is_ours and line.text not in OF_OTHERS]


def written_to(words: list[str], folder: object) -> list[str]:
    """Let output go to a folder of the test."""
    return [f"{folder}/{word}" if before in OUTPUT else word for before, word in zip(["", *words], words, strict=False)]


def accepted(words: list[str]) -> None:
    """Fail unless kafkatx has the command and the options."""
    assert words[0] in registered()
    given = {word.partition("=")[0] for word in words[1:] if word.startswith("-") and word != "-"}
    assert given <= options_of(words[0])


@pytest.mark.parametrize("line", OURS, ids=lambda line: line.text)
def test_a_command_line_of_kafkatx_runs(line: CommandLine, tmp_path, monkeypatch):
    words = written_to(filled(shlex.split(line.text)[1:]), tmp_path)
    monkeypatch.chdir(ROOT)
    names_only = line.in_prose and all(word.startswith("-") and word != "-" for word in words[1:2])
    if names_only or any(sign in line.text for sign in NOT_HERE):
        accepted(words)
        return
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper((ROOT / STAND_FOR[APP_LOG]).open("rb")))
    done = run(*words)
    assert done.code == 0, f"{line.page.name}: {done.err}"
    assert done.out or "--out" in words


@pytest.fixture
def shell(tmp_path):
    """A folder with the files that lines of a shell name, and stand-ins of Kafka's tools; they note their words."""
    for name in (SERVER_LOG, APP_LOG, SERVER_PROPERTIES):
        shutil.copy(ROOT / STAND_FOR[name], tmp_path / name)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("kafka-dump-log.sh", "kafka-transactions.sh"):
        (tools / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/{name}.words"\n')
        (tools / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("line", OTHERS, ids=lambda line: line.text)
def test_a_line_of_a_shell_runs(line: CommandLine, shell, monkeypatch):
    text = WORDS.sub(lambda word: STAND_FOR.get(word[0], word[0]), line.text)
    path = f"{shell / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, "LOG_DIR": str(ROOT / BROKER), "BOOTSTRAP": "broker:9092"}
    done = subprocess.run(["sh", "-c", text], cwd=shell, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # grep found nothing: 1
    noted = {path.name.removesuffix(".words"): path.read_text().splitlines() for path in shell.glob("*.words")}
    assert noted or text.startswith("grep "), "neither grep nor a tool of Kafka's: say in OF_OTHERS why it is not run"
    if "kafka-dump-log.sh" in noted:
        monkeypatch.chdir(ROOT)
        assert run("dump", *noted["kafka-dump-log.sh"]).out
    if "kafka-transactions.sh" in noted:
        server, command, *options = noted["kafka-transactions.sh"][1:]
        assert server == "broker:9092"
        assert {option for option in options if option.startswith("--")} <= ADMIN_TOOL[command]


def test_a_word_that_stands_for_nothing_fails(tmp_path, monkeypatch):
    with pytest.raises(AssertionError, match="NOWHERE"):
        test_a_command_line_of_kafkatx_runs(CommandLine(ROOT, "kafkatx verify NOWHERE"), tmp_path, monkeypatch)


def test_an_option_that_is_not_there_is_seen():
    with pytest.raises(AssertionError, match="--nothing"):
        accepted(["diagnose", "--nothing", BROKER])


def test_what_is_not_run_is_still_in_the_documents():
    assert all(any(sign in line.text for line in OURS) for sign in NOT_HERE)
    assert set(OF_OTHERS) <= set(LINES)


def test_lines_of_a_block_are_taken_whole():
    assert list(lines_of("a \\\n    b\n\nc 'd'\n")) == ["a b", "c 'd'"]
