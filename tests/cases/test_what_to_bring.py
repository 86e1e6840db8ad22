"""What is asked for next: commands that a shell takes, the partition of the id, and evidence that decides."""

import json
import re
import shlex
import subprocess
from typing import Any

from kafkatx.terms.topics import partition_for
from tests.cases.told_texts import FOLDERS, told
from tests.evidence import fixtures

PAGES = sorted(page.relative_to(fixtures()).as_posix() for folder in FOLDERS for page in folder.rglob("*.md"))
STATE = re.compile(r"__transaction_state-(\d+)/")


def _documents() -> list[dict[str, Any]]:
    return [told(page) for page in PAGES]


def test_a_shell_takes_every_command() -> None:
    commands = {one["command"] for document in _documents() for one in document["next"] if one["command"]}
    assert len(commands) > 150
    for command in commands:
        assert shlex.split(command)
    checked = subprocess.run(["bash", "-n"], input="\n".join(commands), text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_rows_are_asked_for_by_the_partition_of_the_id() -> None:
    seen = 0
    for document in _documents():
        ids = {finding["id"]: finding["transactional_id"] for finding in document["findings"]}
        for one in document["next"]:
            named = STATE.search(one["command"] or "")
            names = {ids[found] for found in one["decides"]}
            if named is not None and "of 50 partitions" in one["where"]:
                assert {partition_for(name, 50) for name in names} == {int(named[1])}, json.dumps(one)
                seen += 1
    assert seen > 20


def test_what_is_asked_for_names_the_findings_that_it_decides() -> None:
    for document in _documents():
        for finding in document["findings"]:
            for candidate in finding["candidates"]:
                assert all(finding["id"] in document["next"][number]["decides"] for number in candidate["decided_by"])
