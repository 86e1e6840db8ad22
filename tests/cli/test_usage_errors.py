"""Wrong command lines are told in one style: what is wrong, what to do, exit code 2, whatever the command."""

import pytest

from tests.cases.commands import registered, run
from tests.house.generate_docs import commands

COMMANDS = registered()
TAKE_ANY_WORD = {"explain"}
"""Commands of which an unknown option is a word like any other."""


def refused(*words: str) -> list[str]:
    """Run a command line that is wrong; return the lines of the error."""
    done = run(*words)
    lines = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert len(lines) <= 2
    assert lines[0].startswith("kafkatx: ")
    assert all(line.startswith("  ") for line in lines[1:])
    assert "│" not in done.err
    return [lines[0].removeprefix("kafkatx: "), *(line.strip() for line in lines[1:])]


def needs_a_word(command: str) -> bool:
    return any(one.param_type_name == "argument" and one.required for one in commands()[command].params)


CALLED = "kafkatx {} --help shows how it is called"
WRONG = {
    "diagnose --producer-id abc x": ("--producer-id: 'abc' is no number", CALLED),
    "history --partition=1.5 x": ("--partition: '1.5' is no number", CALLED),
    "diagnose --color 3 x": ("--color: '3' is none of auto, always, never", CALLED),
    "diagnose --format jsn x": ("--format: 'jsn' is none of text, json", "did you mean json?"),
    "diagnose --prodcer-id 3 x": ("there is no option --prodcer-id", "did you mean --producer-id?"),
    "diagnose x --rule": ("--rule needs a value", CALLED),
    "diagnose --json=yes x": ("--json takes no value", CALLED),
    "collect --max-bytes 0 x": ("--max-bytes: 0 is too small: it takes 1 or more", CALLED),
    "dump --max-bytes=-3 x": ("--max-bytes: -3 is out of range: it takes 0 to 2147483647", CALLED),
    "export x": ("--out is missing", CALLED),
    "diagnos x": ("there is no command 'diagnos'", "did you mean diagnose?"),
    "--json diagnose x": ("there is no option --json", "it goes behind a command: kafkatx diagnose --json"),
    "--versoin": ("there is no option --versoin", "did you mean --version?"),
    "diagnose --rule fenced_by_new_instanc x": (
        "--rule fenced_by_new_instanc: there is no such rule",
        "did you mean fenced_by_new_instance?",
    ),
    "export --table recods --out nowhere x": ("--table recods: there is no such table", "did you mean records?"),
    "dump --as lg x": ("--as lg: there is no such kind of file", "did you mean log?"),
}


@pytest.mark.parametrize("words", WRONG)
def test_an_error_says_what_is_wrong_and_what_to_do(words):
    told, advice = WRONG[words]
    assert refused(*words.split()) == [told, advice.format(words.split()[0])]


def test_an_error_of_a_command_itself_says_what_to_do_in_one_line():
    wrong = refused("diagnose", "--as-of", "yesterday", "pyproject.toml")
    assert wrong == ["--as-of: 'yesterday' is no time; write it like 2026-11-21T10:29:00Z"]


def test_what_resembles_nothing_is_answered_with_what_there_is():
    told, choice = refused("qqqq")
    assert told == "there is no command 'qqqq'"
    assert choice == f"the commands are {', '.join(commands())}"
    assert "fenced_by_new_instance" in refused("diagnose", "--rule", "qqqq", "x")[1]
    assert "transactions" in refused("export", "--table", "qqqq", "--out", "nowhere", "x")[1]


def test_a_path_in_place_of_a_command_is_led_to_diagnose(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    assert refused("data") == ["'data' is no command", "to diagnose it: kafkatx diagnose data"]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_takes_an_option_that_there_is_not(command):
    if command in TAKE_ANY_WORD:
        assert "nothing is known about '--no-such-thing'" in run(command, "--no-such-thing").err
    else:
        assert refused(command, "--no-such-thing")[0] == "there is no option --no-such-thing"


@pytest.mark.parametrize("command", [command for command in COMMANDS if needs_a_word(command)])
def test_a_command_without_its_words_says_where_they_are_explained(command):
    told, advice = refused(command)
    assert told.endswith("is missing")
    assert advice == f"kafkatx {command} --help shows how it is called"


def test_what_acts_on_a_terminal_is_shown_instead():
    assert refused("\x1b[31mred\nline")[0] == r"there is no command '\x1b[31mred\nline'"
    assert "\\x1b" in refused("diagnose", "--producer-id", "\x1b]0;x", "y")[0]


def test_a_secret_in_a_wrong_word_is_not_repeated():
    assert "hunter2" not in run("diagnose", "s3://me:hunter2@bucket/x", "--partition", "s3://me:hunter2@bucket").err
