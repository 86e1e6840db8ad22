"""The pages that follow from the code are in step with it, and every rule says all that it must."""

import ast

import pytest

from tests.evidence import ROOT
from tests.golden import compare
from tests.house.generate_docs import (
    HEADINGS,
    cli_page,
    commands,
    documentation_of,
    linked,
    rule_files,
    rule_pages,
)
from tests.house.tools import printed_by_kafkatx

COMMANDS = ("diagnose", "history", "locate", "dump", "verify", "explain", "export")


@pytest.fixture
def update(request) -> bool:
    return request.config.getoption("--update-golden")


def test_the_page_of_commands_is_in_step(update):
    compare(ROOT / "docs/cli.md", cli_page(), update=update)


def test_the_pages_of_rules_are_in_step(update):
    for path, text in rule_pages():
        compare(path, text, update=update)


def test_no_page_is_left_of_a_rule_that_is_gone():
    assert {path.name for path in (ROOT / "docs/rules").glob("*.md")} == {path.name for path, _ in rule_pages()}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_helps_and_its_options_are_explained(command):
    helped = printed_by_kafkatx(command, "--help", COLUMNS="200")
    known = commands()[command]
    assert known.help
    for parameter in known.params:
        assert parameter.param_type_name == "argument" or parameter.help or parameter.hidden, parameter.name
        assert parameter.param_type_name == "argument" or parameter.hidden or max(parameter.opts, key=len) in helped


def test_there_are_rules():
    assert len(rule_files()) >= 10


@pytest.mark.parametrize("path", rule_files(), ids=lambda path: path.stem)
def test_a_rule_says_all_that_it_must(path):
    found = documentation_of(path)
    assert found.title.endswith(".")
    assert tuple(found.sections) == HEADINGS
    assert all(found.sections.values())


@pytest.mark.parametrize("path", rule_files(), ids=lambda path: path.stem)
def test_a_rule_is_tested_where_it_fires_where_it_must_not_and_on_less_evidence(path):
    tests = ROOT / f"tests/rules/test_{path.stem}.py"
    assert tests.exists()
    body = ast.parse(tests.read_text()).body
    assert len([node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]) >= 3


def test_a_docstring_is_taken_apart_by_its_headings(tmp_path):
    rule = tmp_path / "timed_out.py"
    rule.write_text(
        '"""It took too long.\n\nA word before.\n\nMechanism    one\n             two\nEvidence     see `fenced`\n"""\n'
        "def check(): ...\n"
    )
    found = documentation_of(rule)
    assert (found.title, found.introduction) == ("It took too long.", "A word before.")
    assert found.sections == {"Mechanism": "one two", "Evidence": "see `fenced`"}
    assert linked(found.sections["Evidence"], {"fenced"}) == "see [fenced](fenced.md)"
