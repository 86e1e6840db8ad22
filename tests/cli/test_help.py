"""The help as a reader sees it: every command, at 80 and at 120 columns, in colours and without."""

import re

import pytest

from kafkatx.cli.help import rendered
from kafkatx.cli.manual import Manual, manual_of
from tests.cases.commands import on_a_terminal, run
from tests.house.generate_docs import commands, program

COLOURS = re.compile(r"\x1b\[\d*m")
KNOWN = {"": program(), **commands()}


def manual(name: str) -> Manual:
    return manual_of(name, KNOWN[name])


def words(text: str) -> str:
    """Text without regard to where its lines break."""
    return " ".join(text.split())


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", KNOWN)
def test_no_line_is_longer_than_the_terminal_is_wide(name, columns):
    lines = rendered(manual(name), columns).splitlines()
    assert max(map(len, lines)) <= columns
    assert columns - 12 < max(map(len, lines)), "the width is used"
    assert not [line for line in lines if line != line.rstrip()]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", KNOWN)
def test_all_that_is_to_be_said_is_said_as_it_is_written(name, columns):
    shown, told = rendered(manual(name), columns), manual(name)
    assert told.usage in words(shown)
    for paragraph in told.paragraphs:
        assert "\n".join(f"  {line}" for line in paragraph.lines) in shown or words(paragraph.text) in words(shown)
    for row in (row for section in told.sections for row in section.rows):
        assert f"{row.name} {words(row.text)}" in words(shown)


@pytest.mark.parametrize("name", KNOWN)
def test_every_option_is_explained_and_none_shows_the_type_that_holds_it(name):
    shown = rendered(manual(name), 80)
    assert not re.search(r"<\w+[\w\[\]]*>|list\[|\bTEXT\b|\bNone\b", shown)
    for parameter in KNOWN[name].params:
        assert parameter.hidden or parameter.help, parameter.name
        assert parameter.hidden or parameter.param_type_name == "argument" or max(parameter.opts, key=len) in shown


def test_brackets_are_no_markup():
    assert "pip install 'kafkatx[spark]'" in words(run("diagnose", "--help").out)


def test_what_keeps_its_lines_keeps_them():
    shown = run("export", "--help").out
    assert "             FROM 'tables/transactions/*.parquet'\n             WHERE outcome" in shown


@pytest.mark.parametrize("name", KNOWN)
def test_every_command_gives_examples_of_itself(name):
    examples = manual(name).examples
    assert examples
    assert all(example.startswith(f"kafkatx {name}") for example in examples)


@pytest.mark.parametrize("name", KNOWN)
def test_colours_change_no_text(name):
    coloured = rendered(manual(name), 80, is_coloured=True)
    assert COLOURS.search(coloured)
    assert COLOURS.sub("", coloured) == rendered(manual(name), 80)


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_command_line_shows_it(name, option, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    done = run(*name.split(), option)
    assert (done.code, done.err) == (0, "")
    assert done.out == rendered(manual(name), 120) + "\n"


def test_a_terminal_sees_it_in_colours_unless_it_wants_none():
    assert COLOURS.search(on_a_terminal("verify", "--help").decode())
    assert not COLOURS.search(on_a_terminal("verify", "--help", NO_COLOR="1").decode())


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_told_before_and_behind_a_command(name, option):
    done = run(*name.split(), option)
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"kafkatx \d+\.\d+\.\d+\n", done.out)


def test_no_word_at_all_is_answered_with_the_help_and_is_no_success():
    done = run()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: kafkatx [OPTIONS] COMMAND")
