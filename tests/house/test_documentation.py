"""The pages that follow from the code are in step with it, and every rule says all that it must."""

import ast
import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer

from kafkatx.rules.docstring import HEADINGS, parse_docstring, rule_texts
from kafkatx.rules.registry import RULES
from kafkatx.terms.catalogue.loading import (
    broker_log_templates,
    client_exceptions,
    client_log_templates,
    error_codes,
    kips,
    states,
    terms,
)
from tests.evidence import ROOT, expectations, fixture_cases
from tests.golden import compare
from tests.house.command_lines import pages as documents
from tests.house.generate_docs import (
    cli_page,
    commands,
    cookbook_text,
    linked,
    navigated,
    pages,
    program,
    rule_files,
    rule_page,
    rule_pages,
)
from tests.house.man_page import man_page
from tests.house.rule_examples import EXAMPLES, rule_example
from tests.house.site import CONFIGURATION
from tests.house.wrapping import long_lines, wrapped

WITHOUT_A_RULE: set[str] = set()
"""Mechanisms of the catalogue that no rule looks for yet."""


@pytest.fixture
def update(request) -> bool:
    return request.config.getoption("--update-golden")


def test_the_page_of_commands_is_in_step(update):
    compare(ROOT / "docs/cli.md", cli_page(commands()), update=update)


def test_the_man_page_is_in_step(update):
    compare(ROOT / "docs/kafkatx.1", man_page(program(), commands()), update=update)


def test_the_page_of_formats_is_in_step_and_names_all_that_is_declared(update):
    page = ROOT / "docs/formats.md"
    compare(page, pages()[page], update=update)
    text = page.read_text()
    for module in (ROOT / "kafkatx/formats").glob("*.py"):
        for name in re.findall(r"^([A-Z]\w+) = Layout\(", module.read_text(), re.MULTILINE):
            assert f"`{name}`" in text, name
    for schema in (ROOT / "kafkatx/formats/schemas").glob("*.txt"):
        for name in re.findall(r"^(?:key|value|record|data) \S+ (\w+)", schema.read_text(), re.MULTILINE):
            assert f"**{name}**" in text, name


def test_the_cookbook_is_in_step(update):
    compare(ROOT / "docs/cookbook.md", cookbook_text(), update=update)


def test_the_navigation_of_the_site_is_in_step(update):
    compare(CONFIGURATION, navigated(), update=update)


def test_the_pages_of_rules_are_in_step(update):
    for path, text in rule_pages():
        compare(path, text, update=update)


def test_no_page_is_left_of_a_rule_that_is_gone():
    assert {path.stem for path in (ROOT / "docs/rules").glob("*.md")} == {"README", *RULES}


def test_every_rule_has_an_example_that_shows_it():
    assert set(EXAMPLES) == set(RULES)
    for rule_id in RULES:
        assert re.search(rf"^   (?:error|warning|info) {rule_id}\b", rule_example(rule_id), re.MULTILINE), rule_id


def test_a_pasted_text_is_an_example_only_where_no_recorded_case_shows_the_rule():
    recorded = {must["rule"] for case in fixture_cases() for must in expectations(case)["must_find"]}
    assert not {rule_id for rule_id, evidence in EXAMPLES.items() if evidence.startswith("pages")} & recorded


def test_the_registry_the_pages_and_the_modules_name_the_same_rules():
    assert set(RULES) == {path.stem for path in rule_files()} == {text.rule_id for text in rule_texts()}


def test_the_catalogue_names_rules_or_mechanisms_that_no_rule_looks_for_yet():
    """`explain` and findings name rules only; a name that is neither is a misprint."""
    entries = (
        *error_codes(), *client_exceptions(), *states(), *kips(), *terms(),
        *broker_log_templates(), *client_log_templates(),
    )  # fmt: skip
    named = {rule for entry in entries for rule in entry.rules}
    assert named - set(RULES) <= WITHOUT_A_RULE
    assert not WITHOUT_A_RULE & set(RULES)


def test_rules_name_rules_as_their_causes():
    for rule in RULES.values():
        assert {name for name, _ in (*rule.caused_by, *rule.causes)} <= set(RULES)
        assert rule.absorbed_by is None or rule.absorbed_by in RULES


@pytest.mark.parametrize("path", rule_files(), ids=lambda path: path.stem)
def test_a_rule_says_all_that_it_must(path):
    (found,) = [text for text in rule_texts() if text.rule_id == path.stem]
    assert found.summary.endswith(".")
    assert tuple(heading for heading, _ in found.sections) == HEADINGS
    assert not found.missing


@pytest.mark.parametrize("path", rule_files(), ids=lambda path: path.stem)
def test_a_rule_is_tested_where_it_fires_where_it_must_not_and_on_less_evidence(path):
    tests = ROOT / f"tests/rules/test_{path.stem}.py"
    assert tests.exists()
    body = ast.parse(tests.read_text()).body
    assert len([node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]) >= 3


def test_a_page_links_the_other_rules_and_not_itself():
    text = parse_docstring("late", "It came late.\n\nMechanism  one\n           two\nLook-alikes  `fenced`, late\n")
    assert text
    page = rule_page(text, {"fenced", "late"})
    assert "# late\n\nIt came late.\n\n## Mechanism\n\none two\n\n## Look-alikes\n\n[fenced](fenced.md), late\n" in page
    assert linked("unfenced_ids", {"fenced"}) == "unfenced_ids"


@pytest.mark.parametrize("page", documents()[1:], ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_a_page_are_below_130_columns(page):
    assert not long_lines(page.read_text())


def test_a_long_line_is_broken_at_a_blank_and_what_must_stay_stays():
    words = "word " * 30
    page = f"- {words}\n| {words}|\n```text\n{words}\n```\n{words}\n"
    broken = wrapped(page)
    assert len(long_lines(page)) == 2
    assert not long_lines(broken)
    assert f"\n| {words}|\n```text\n{words}\n```\n" in broken
    assert broken.startswith("- word ")
    assert "\n  word word" in broken


def test_no_line_becomes_an_item_by_being_broken():
    words = "word " * 25
    assert wrapped(f"{words}abc - and what follows\n") == f"{words.rstrip()}\nabc - and what follows\n"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def paint(
    paths: Annotated[list[Path], typer.Argument(help="What to paint.", metavar="PATH...")],
    colour: Annotated[Colour, typer.Option(help="Which paint.")] = Colour.RED,
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Where to.")] = None,
    shade: Annotated[Literal["light", "dark"], typer.Option(help="How much.")] = "light",
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing.")] = False,
) -> None:
    """Paint things.

    Twice if needed:

      kafkatx paint 'a[b]'
        --quiet
    """


def test_the_page_of_commands_says_what_help_says():
    app = typer.Typer()
    app.command()(paint)
    app.command(hidden=True)(test_the_registry_the_pages_and_the_modules_name_the_same_rules)
    page = cli_page(dict(typer.main.get_command(app).commands))
    _, _, section = page.partition("## paint\n\n")
    assert section.splitlines() == [
        "```text",
        "kafkatx paint [OPTIONS] PATH...",
        "```",
        "",
        "Paint things.",
        "",
        "Twice if needed:",
        "",
        "```sh",
        "kafkatx paint 'a[b]'",
        "  --quiet",
        "```",
        "",
        "Arguments:",
        "",
        "- `PATH...`: What to paint.",
        "",
        "Options:",
        "",
        "- `--colour red|blue`: Which paint. Default: red.",
        "- `-o, --out FILE`: Where to.",
        "- `--shade light|dark`: How much. Default: light.",
        "- `--quiet`: Say nothing.",
    ]
