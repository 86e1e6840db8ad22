"""README.md keeps its promises: two commands, the one that .ci/run runs, and what the other one prints."""

import re
import shlex
import subprocess

import pytest

from tests.evidence import ROOT
from tests.house.examples import BLOCK, commands_of
from tests.house.readme import README, commands, kafkatx_arguments

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def test_a_fresh_machine_needs_exactly_two_commands_of_one_line_each():
    assert len(commands()) == 2
    assert not [command for command in commands() if "\n" in command or "\\" in command]
    assert all(command.startswith("python3 -m venv .venv && ") for command in commands())


def test_ci_runs_the_test_command_and_nothing_else():
    script = (ROOT / ".ci/run").read_text().splitlines()
    steps = [line for line in script if line and not line.startswith("#")]
    assert steps == ['cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit', commands()[1]]
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


def test_the_workflow_runs_the_test_command_as_it_stands():
    lines = (ROOT / ".github/workflows/tests.yml").read_text().splitlines()
    assert f"run: {commands()[1]}" in [line.strip() for line in lines]


@pytest.mark.parametrize("number", [0, 1])
def test_a_command_is_valid_shell(number):
    assert subprocess.run(["sh", "-n", "-c", commands()[number]], check=False).returncode == 0


def test_the_example_is_what_the_first_command_prints_and_fits_80_columns():
    (block,) = BLOCK.findall(README.read_text())
    assert commands_of(block) == [shlex.join(["kafkatx", *kafkatx_arguments()])]
    assert "payments-eu-1" in block
    is_file = re.compile(r" +\[\d+\] \S+$")
    long = [line for line in block.splitlines() if len(line) > 80]
    assert all(is_file.match(line) for line in long), "only paths are never broken"


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        *(str(page.relative_to(ROOT)) for where in ("docs", ".github") for page in ROOT.glob(f"{where}/*.md")),
    ],
)
def test_every_link_of_a_page_leads_to_a_file(page):
    targets = LINK.findall(CODE.sub("", (ROOT / page).read_text()))
    assert not [target for target in targets if not ((ROOT / page).parent / target).exists()]
