"""Options that several commands take are the same everywhere, and mean what they say where they are taken."""

import pytest

from kafkatx.local import history, location
from tests.cases.commands import options_of, registered, run
from tests.evidence import FIXTURES

BROKER = FIXTURES / "k39-fenced/broker-1"
TOGETHER = {
    "--quiet": "-q",
    "--verbose": "-v",
    "--version": "-V",
    "--help": "-h",
    "--out": "-o",
    "--format": "--json",
    "--id": "--transactional-id",
}
"""Spellings that stand for one thing, or of which one is short for the other."""


@pytest.mark.parametrize("command", registered())
def test_a_common_option_has_all_its_spellings(command):
    taken = options_of(command)
    assert {"--version", "--debug"} <= taken
    assert not [(name, other) for name, other in TOGETHER.items() if name in taken and other not in taken | {"-h"}]


@pytest.mark.parametrize(
    "words", [("history",), ("verify",), ("diagnose",), ("locate", "payments-0:3")], ids=lambda words: words[0]
)
def test_verbose_names_every_file_and_nothing_else_does(words):
    command, *last = words
    plain, whole = (run(command, *more, str(BROKER), *last) for more in ((), ("-v",)))
    assert plain.code == whole.code == 0
    assert plain.out.splitlines()[0] == whole.out.splitlines()[0]
    assert "partition.metadata" not in plain.out
    assert "partition.metadata" in whole.out
    assert "(--verbose lists" not in whole.out


@pytest.mark.parametrize(("module", "words"), [(history, ("history",)), (location, ("locate", "payments-0:3"))])
def test_what_is_known_beside_the_evidence_is_handed_on(module, words, monkeypatch):
    seen, build = [], module.build_models
    monkeypatch.setattr(module, "build_models", lambda *of, **known: seen.append(known) or build(*of, **known))
    command, *last = words
    options = ("--kafka-version", "3.9.1", "--log-zone", "+02:00", "--verify", "--as-of", "2026-11-22T00:00:00Z")
    assert run(command, *options, str(BROKER), *last).code == 0
    for known in seen:
        assert known["release"] == (3, 9, 1)
        assert known["log_zone_ms"] == 7_200_000
        assert known["verify_all"] is True
        assert known["as_of"] == 1_795_305_600_000
    assert seen


@pytest.mark.parametrize("command", [name for name in registered() if "--kafka-version" in options_of(name)])
def test_a_release_that_is_none_is_refused(command):
    words = [str(BROKER), *(["payments-0:3"] if command == "locate" else [])]
    done = run(command, "--kafka-version", "abc", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("kafkatx: ")


def test_an_explanation_is_written_as_other_results_are(tmp_path, monkeypatch):
    printed = run("explain", "LSO", "--json").out
    assert run("explain", "LSO", "--format", "json").out == printed
    assert run("explain", "LSO", "--json", "-o", str(tmp_path / "lso.json"), "-q").out == ""
    assert (tmp_path / "lso.json").read_text() == printed
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in run("explain", "LSO", "--color", "always").out
