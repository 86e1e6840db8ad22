"""The examples of README.md and docs/ print what stands there; those of generated pages are held with their pages."""

import pytest

from tests.evidence import ROOT
from tests.golden import compare
from tests.house.examples import BLOCK, commands_of, example, renewed, through

PAGES = [page for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))) if BLOCK.search(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_prints_what_stands_below_it(page, request):
    compare(page, renewed(page.read_text()), update=request.config.getoption("--update-golden"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_an_example_begins_with_a_command(page):
    assert all(block.startswith("$ kafkatx ") for block in BLOCK.findall(page.read_text()))


def test_an_example_is_made_anew_with_all_of_its_commands():
    old = "a\n\n```console\n$ kafkatx explain proved | head -1\nstale\n$ kafkatx explain likely | head -1\n```\n\nb\n"
    assert commands_of(BLOCK.findall(old)[0]) == [
        "kafkatx explain proved | head -1",
        "kafkatx explain likely | head -1",
    ]
    new = "$ kafkatx explain proved | head -1\nproved\n\n$ kafkatx explain likely | head -1\nlikely\n"
    assert renewed(old) == f"a\n\n```console\n{new}```\n\nb\n"


@pytest.mark.parametrize("command", ["rm -r x", "kafkatx explain", "kafkatx diagnose fixtures/none"])
def test_a_command_that_fails_or_is_not_ours_is_no_example(command):
    with pytest.raises(AssertionError):
        example(command)


def test_behind_a_bar_stands_only_what_every_machine_has():
    assert through("sed -n 2p | cut -c1", "ab\ncd\n") == "c\n"
    with pytest.raises(AssertionError, match="jq"):
        through("jq .", "{}")
