"""What a shell is offered, through the variables by which shells ask (bash, zsh, fish)."""

import re
from pathlib import Path

import pytest

from kafkatx.cli import completion
from kafkatx.rules.docstring import rule_texts
from kafkatx.tables.catalogue import EXPORTED
from tests.cases.commands import registered, run
from tests.evidence import FIXTURES

CASE = FIXTURES / "k39-fenced"
BROKER = str(CASE / "broker-1")


def bash(monkeypatch, line: str) -> list[str]:
    words = line.split(" ")
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_KAFKATX_COMPLETE": "complete_bash"}
    return list(filter(None, _asked(monkeypatch, variables).splitlines()))


def zsh(monkeypatch, line: str) -> list[str]:
    shown = _asked(monkeypatch, {"_TYPER_COMPLETE_ARGS": line, "_KAFKATX_COMPLETE": "complete_zsh"})
    return re.findall(r'^(?:_arguments \'\*: :\(\()?"([^"]+)"', shown, re.MULTILINE)


def fish(monkeypatch, line: str) -> list[str]:
    variables = {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    shown = _asked(monkeypatch, {**variables, "_KAFKATX_COMPLETE": "complete_fish"})
    return [offer.partition("\t")[0] for offer in shown.splitlines() if offer]


def _asked(monkeypatch, variables: dict[str, str]) -> str:
    with monkeypatch.context() as shell:
        for name, value in variables.items():
            shell.setenv(name, value)
        done = run()
    assert (done.code, done.err) == (0, "")
    return done.out


SHELLS = pytest.mark.parametrize("offered", [bash, zsh, fish], ids=lambda shell: shell.__name__)


@SHELLS
def test_commands_are_completed(offered, monkeypatch):
    assert offered(monkeypatch, "kafkatx dia") == ["diagnose"]
    assert sorted(offered(monkeypatch, "kafkatx ")) == registered()


@SHELLS
def test_options_are_completed(offered, monkeypatch):
    assert offered(monkeypatch, "kafkatx diagnose --prod") == ["--producer-id"]
    assert offered(monkeypatch, "kafkatx diagnose --min-severity w") == ["warning"]


@SHELLS
def test_rules_are_completed(offered, monkeypatch):
    rules = [text.rule_id for text in rule_texts()]
    assert offered(monkeypatch, "kafkatx diagnose --rule ") == rules
    assert offered(monkeypatch, "kafkatx diagnose --rule fenced_by_n") == ["fenced_by_new_instance"]
    assert offered(monkeypatch, "kafkatx explain fenced_by_n") == ["fenced_by_new_instance"]


@SHELLS
def test_tables_and_kinds_of_files_are_completed(offered, monkeypatch):
    assert offered(monkeypatch, "kafkatx export x --table ") == list(EXPORTED)
    assert offered(monkeypatch, "kafkatx dump x --as tim") == ["timeindex"]


@SHELLS
@pytest.mark.parametrize("path", [BROKER, str(CASE), f"{BROKER}/payments-0"])
def test_topics_of_the_evidence_are_completed(offered, monkeypatch, path):
    assert "payments" in offered(monkeypatch, f"kafkatx diagnose {path} --topic ")
    assert offered(monkeypatch, f"kafkatx diagnose {path} --topic pay") == ["payments"]


@SHELLS
def test_ids_of_the_evidence_are_completed(offered, monkeypatch):
    assert offered(monkeypatch, f"kafkatx history {BROKER} --id pay") == ["payments-eu-1"]
    assert offered(monkeypatch, f"kafkatx collect {BROKER} --transactional-id pay") == ["payments-eu-1"]


@SHELLS
@pytest.mark.parametrize("path", ["nowhere", "s3://bucket/folder", "pyproject.toml"])
def test_what_can_not_be_listed_offers_nothing(offered, monkeypatch, path):
    assert offered(monkeypatch, f"kafkatx diagnose {path} --topic ") == []
    assert offered(monkeypatch, f"kafkatx diagnose {path} --id ") == []


@SHELLS
def test_a_name_in_which_a_shell_finds_a_meaning_is_not_offered(offered, monkeypatch, tmp_path):
    for name in ("good", "$(touch x)", "a'b", 'a"b', "`x`", "a\nb", "-rf", "a;b"):
        (tmp_path / f"{name}-0").mkdir()
    assert offered(monkeypatch, f"kafkatx diagnose {tmp_path} --topic ") == ["good"]


def test_ids_that_a_shell_would_act_on_are_not_offered():
    offers = [("$(x)", ""), ("a b", ""), ("it's", ""), ("--rm", ""), ("orders-1_0.a:b@c/d", "")]
    assert completion._beginning("", offers) == [offers[-1]]


def test_listing_ends_where_there_is_too_much(tmp_path: Path, monkeypatch):
    for number in range(40):
        (tmp_path / f"topic{number}-0").mkdir()
    monkeypatch.setattr(completion, "MOST_FOLDERS", 10)
    assert len(list(completion._partitions([tmp_path]))) <= 10


def test_a_torn_coordinator_log_still_names_its_ids(tmp_path: Path):
    whole = Path(BROKER, "__transaction_state-0", f"{0:020}.log").read_bytes()
    (tmp_path / "torn.log").write_bytes(whole[: len(whole) - 5] + b"\xff" * 40)
    assert "payments-eu-1" in completion._ids_in([tmp_path / "gone.log", tmp_path / "torn.log"])
