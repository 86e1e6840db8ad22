"""What is asked for next: commands that a shell takes, the partition of the id, and evidence that decides."""

import json
import re
import shlex
import subprocess
from functools import cache
from typing import Any

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from kafkatx.terms.topics import partition_for
from tests.evidence import fixtures

PAGES = sorted(page for folder in ("pages", "pages_later") for page in (fixtures() / folder).rglob("*.md"))
STATE = re.compile(r"__transaction_state-(\d+)/")


@cache
def _documents() -> list[dict[str, Any]]:
    found = []
    for page in PAGES:
        try:
            found.append(document(diagnose([page]), "test"))
        except NothingReadableError:
            continue
    return found


def test_a_shell_takes_every_command() -> None:
    commands = {one["command"] for told in _documents() for one in told["next"] if one["command"]}
    assert len(commands) > 150
    for command in commands:
        assert shlex.split(command)
    checked = subprocess.run(["bash", "-n"], input="\n".join(commands), text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_rows_are_asked_for_by_the_partition_of_the_id() -> None:
    seen = 0
    for told in _documents():
        ids = {finding["id"]: finding["transactional_id"] for finding in told["findings"]}
        for one in told["next"]:
            named = STATE.search(one["command"] or "")
            names = {ids[found] for found in one["decides"]}
            if named is not None and "of 50 partitions" in one["where"]:
                assert {partition_for(name, 50) for name in names} == {int(named[1])}, json.dumps(one)
                seen += 1
    assert seen > 20


def test_what_is_asked_for_names_the_findings_that_it_decides() -> None:
    for told in _documents():
        for finding in told["findings"]:
            for candidate in finding["candidates"]:
                assert all(finding["id"] in told["next"][number]["decides"] for number in candidate["decided_by"])
