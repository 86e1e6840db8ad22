"""Hostile text beside real evidence: it changes no verdict, costs linear time and never acts on a terminal."""

from __future__ import annotations

import json
import re
import sys
import time
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.cases import hostile
from tests.cases.commands import BAR, on_a_terminal, run
from tests.evidence import fixtures

CASES = ("k39-timeout", "k24-unresolved")
OWN = re.compile(r"\x1b\[[0-9;]*m|\r\x1b\[K|\r(?=\n)")
"""What the application itself does to a terminal: colours, and the line that tells how far it is."""
Told = frozenset[tuple[Any, ...]]


def told(folder: Path) -> Told:
    """What is found: rules, ids, verdicts, and about whom."""
    result = run("diagnose", str(folder), "--json")
    assert result.code == 0, result.err
    return frozenset(
        tuple(found[name] for name in ("rule", "id", "verdict", "severity", "transactional_id", "producer_id", "count"))
        for found in json.loads(result.out)["findings"]
    )


@cache
def undisturbed(case: str) -> Told:
    with TemporaryDirectory() as folder:
        return told(hostile.copied(fixtures() / case, Path(folder)))


def acts(text: str) -> set[str]:
    """Characters that do something else than being seen, lines' ends aside."""
    return {char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")}


@pytest.mark.parametrize("case", CASES)
def test_the_cases_have_something_to_lose(case):
    assert {"likely", "proved"} & {verdict for _, _, verdict, *_ in undisturbed(case)}


@pytest.mark.parametrize("kind", hostile.HOSTILE)
@pytest.mark.parametrize("case", CASES)
def test_hostile_text_changes_no_finding(tmp_path, case, kind):
    hostile.HOSTILE[kind](hostile.copied(fixtures() / case, tmp_path))
    assert told(tmp_path) == undisturbed(case)


def test_the_forged_lines_would_be_believed_where_they_stand_as_lines(tmp_path):
    folder = hostile.copied(fixtures() / CASES[0], tmp_path)
    hostile.between_entries(folder, "\n".join(hostile.FORGED_LOG).encode())
    assert "victim-1" in {name for *_, name, _, _ in told(folder)}


def worn(folder: Path) -> Path:
    """A case of which an id, a client's log and its folder have names that act on a terminal."""
    folder = folder / "ca\x1b]0;Y\x07se\u202e"
    hostile.copied(fixtures() / "k39-timeout", folder)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.write_bytes(path.read_bytes().replace(hostile.WORN_ID.encode(), hostile.ACTING_ID.encode()))
    renamed = folder / "logs" / "client\x1b[2J-payments-a.log"
    (folder / "logs" / "client-payments-a.log").rename(renamed)
    hostile.acting(folder)
    return folder


COMMANDS = {"diagnose": (), "history": ("--all",), "verify": ("--records",)}


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_acts_is_printed(tmp_path, command):
    result = run(command, str(worn(tmp_path)), *COMMANDS[command])
    assert not acts(result.out)
    assert not acts(result.err)
    assert "p\\x1b]0;X\\x07\\u202eu-1" in result.out or command == "verify"


def test_nothing_that_acts_reaches_json_but_escaped(tmp_path):
    result = run("diagnose", str(worn(tmp_path)), "--json")
    assert hostile.ACTING_ID in {found["transactional_id"] for found in json.loads(result.out)["findings"]}
    assert not {char for char in result.out if char < " "} - {"\n"}


@pytest.mark.parametrize("command", ["diagnose", "dump"])
def test_nothing_that_acts_reaches_a_terminal(tmp_path, command):
    shown = on_a_terminal(command, str(worn(tmp_path))).decode()
    assert "x1b]0;" in shown
    assert not acts(OWN.sub("", BAR.sub("", shown)))


def steps(folder: Path) -> int:
    """Python's and C's functions that a diagnosis calls: its work, whatever the machine does meanwhile."""
    events: Counter[str] = Counter()

    def note(frame: object, event: str, argument: object) -> None:
        events[event] += 1

    sys.setprofile(note)
    try:
        run("diagnose", str(folder), "--json")
    finally:
        sys.setprofile(None)
    return events["call"] + events["c_call"]


def test_many_short_lines_cost_as_much_each_as_few(tmp_path):
    lines = f"x\noffset: 1 \n\tat x\n[{hostile.STAMP}] INFO x (y)\n"
    for name, times in (("first", 100), ("few", 200), ("many", 800)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.log").write_text(f"{hostile.FORGED_LOG[0]}\n{lines * times}")
    run("diagnose", str(tmp_path / "first"), "--json")  # what is read once only: tables, patterns
    assert steps(tmp_path / "many") < 4.5 * steps(tmp_path / "few")


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", hostile.bombs(100))
def test_a_bomb_four_times_as_large_takes_about_four_times_as_long(tmp_path, kind):
    def seconds(size: int) -> float:
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / "server.log").write_text(f"{hostile.FORGED_LOG[0]}\n{hostile.bombs(size)[kind]}\n")
        begun = time.process_time()
        run("diagnose", str(folder), "--json")
        return time.process_time() - begun

    seconds(1_000)
    assert seconds(4_000_000) < 10 * max(seconds(1_000_000), 0.2)
