"""docs/schemas holds what commands print: no field more, none less, for all recorded evidence."""

import json
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from kafkatx.histories.endings import EndedBy
from kafkatx.rules.registry import RULES
from kafkatx.words.sample import sample
from kafkatx.words.values import as_json
from tests.cases.commands import Result, fresh_folder, options_of, place_in, registered, run, words_for
from tests.evidence import ROOT, all_cases, fixtures
from tests.golden import compare
from tests.schemas.documents import DOCUMENTS, schema_text
from tests.schemas.meeting import Meeting

FOLDER = ROOT / "docs/schemas"
BY_TURNS = ("history", "locate", "collect")
"""Commands that take long: of each case one of them is run, and all with `-m repeats`."""
WORDS = (
    ["fenced_by_new_instance"],
    ["--kafka-version", "2.8", "ProducerFencedException"],
    ["--kafka-version", "99.0", "LSO"],
    ["47"],
    ["transaction.timeout.ms"],
    ["the", "open", "transaction"],
    ["ProducerFencedException: an old epoch\n" + "a line that nobody knows\n" * 300],
)
NEVER_RECORDED = "never_recorded.txt"


@cache
def meeting(command: str) -> Meeting:
    """Return a command's schema; what one test meets of it counts for all tests of this process."""
    return Meeting(DOCUMENTS[command]())


@cache
def validator(command: str) -> Draft202012Validator:
    return Draft202012Validator(meeting(command).schema)


def hold(command: str, found: Any) -> None:
    """Fail where a document, or a line of one, is not as the schema says; the message names the place."""
    error = best_match(validator(command).iter_errors(found))
    assert error is None, f"{command} at {error.json_path}: {error.message[:300]}"
    meeting(command).show(found)


def hold_printed(command: str, printed: Result) -> None:
    assert printed.code in (0, 1, 3), printed.err
    lines = lines_of(printed.raw) if command == "dump" else [json.loads(printed.raw)]
    for line in lines:
        hold(command, line)


def lines_of(raw: bytes) -> Iterator[Any]:
    """Yield the lines of a dump, of those that are alike in fields and types the first."""
    known = set()
    for line in map(json.loads, raw.splitlines()):
        alike = (line["object"], line.get("kind"), *((name, type(value)) for name, value in line.items()))
        if alike not in known:
            known.add(alike)
            yield line


def calls(cases: Iterable[Path], *, all_commands: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield the calls over recorded cases: by command, the words behind it."""
    for number, case in enumerate(cases):
        turn = BY_TURNS[number % len(BY_TURNS)]
        for command in BY_TURNS if all_commands else (turn,):
            place = [place_in(case), "--show-payloads"] if command == "locate" else []
            yield command, [str(case), *place, *(["--all"] if command == "history" else [])]
        for command in ("diagnose", "verify", "dump"):
            yield command, [str(case)]
    for name in ("k39-eos-groups", "k011-legacy-formats"):
        yield "dump", [str(path) for path in sorted((fixtures() / name).rglob("*")) if path.suffix in OF_BROKERS]


OF_BROKERS = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


@pytest.mark.parametrize("command", DOCUMENTS)
def test_a_schema_is_in_step_with_what_is_declared(command, request):
    update = request.config.getoption("--update-golden")
    compare(FOLDER / f"{command}.schema.json", schema_text(command), update=update)


def test_every_command_that_prints_json_has_a_schema_and_no_other_has():
    printing = {command for command in registered() if "--json" in options_of(command)}
    assert printing == set(DOCUMENTS)
    assert {path.name for path in FOLDER.iterdir()} == {f"{command}.schema.json" for command in DOCUMENTS}


@pytest.mark.parametrize("command", DOCUMENTS)
def test_a_schema_is_one_of_its_draft_and_admits_no_field_that_it_does_not_name(command):
    schema = meeting(command).schema
    Draft202012Validator.check_schema(schema)
    objects = [one for one in parts(schema) if "required" in one]
    assert objects
    assert all(one["additionalProperties"] is False for one in objects)


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object within a value, itself included."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(inner)


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(all_cases()[1::5], id="every fifth"),
        pytest.param(all_cases(), id="all", marks=pytest.mark.repeats),
    ],
)
def test_what_commands_print_of_recorded_cases_is_as_their_schemas_say(cases, golden, request):
    is_all = len(cases) == len(all_cases())
    for command, words in calls(cases, all_commands=is_all):
        hold_printed(command, run(command, *words, "--json"))
    hold_the_rest()
    declared = {f"{command} {field}" for command in DOCUMENTS for field in meeting(command).declared}
    met = {f"{command} {field}" for command in DOCUMENTS for field in meeting(command).met}
    if is_all:
        golden(NEVER_RECORDED, "".join(f"{name}\n" for name in sorted(declared - met)))
    stale = met & set((request.path.parent / "golden" / NEVER_RECORDED).read_text().splitlines())
    assert not stale, "recorded after all: pytest -m repeats --update-golden"


def hold_the_rest() -> None:
    """Hold what is not of one case: explanations, exports, bundles, what is damaged, what is no evidence."""
    for words in WORDS:
        hold_printed("explain", run("explain", "--json", *words))
    empty = fresh_folder()
    empty.mkdir()
    for command in ("diagnose", "history", "verify", "collect", "export", "locate"):
        where = {"export": ["--out", str(fresh_folder())], "locate": ["orders-0:0"]}.get(command, [])
        hold_printed(command, run(command, str(empty), *where, "--json"))
    case = fixtures() / "k39-fenced"
    for other in ("k39-fenced", "k39-timeout", "k39-healthy"):
        hold_printed("compare", run("compare", str(case), str(fixtures() / other), "--json"))
    hold_printed("compare", run("compare", str(case), str(damaged(case)), "--json"))
    hold_printed("export", run(*words_for("export", case, "--json"), "--table", "markers"))
    hold_printed(
        "collect", run("collect", str(case), "--out", str(fresh_folder().with_name("case.tgz")), "--redact", "--json")
    )
    hold_printed("diagnose", run("diagnose", str(case), "--id", "nobody", "--json"))
    hold_printed("verify", run("verify", str(case), "--records", "--json"))
    for place in ("__transaction_state-0:8", "payments-0:6", "payments-0:99"):
        hold_printed("locate", run("locate", str(case), place, "--json"))
    for command in ("diagnose", "verify", "dump"):
        hold_printed(command, run(command, str(damaged(case)), "--json"))


@cache
def damaged(case: Path) -> Path:
    """Return a copy of a case's first broker of which each segment lacks its last bytes and has a wrong one."""
    folder = fresh_folder()
    shutil.copytree(case / "broker-1", folder)
    for path in folder.rglob("*.log"):
        data = bytearray(path.read_bytes())
        if len(data) > 100:
            data[70] ^= 0xFF
            path.write_bytes(data[:-5])
    return folder


def test_facts_of_every_kind_are_as_the_schema_says_whether_recorded_or_not():
    found = json.loads(run("diagnose", str(fixtures() / "k39-fenced"), "--json").raw)["findings"][0]
    one = Draft202012Validator(
        {**meeting("diagnose").schema["$defs"]["Finding"], "$defs": meeting("diagnose").schema["$defs"]}
    )
    for name, words in ((name, words) for name, rule in RULES.items() for words in rule.words):
        facts = json.loads(json.dumps(as_json(sample(words.facts))))
        error = best_match(one.iter_errors({**found, "rule": name, "facts": facts}))
        assert error is None, f"{name} {words.facts.__name__}: {error.message[:300]}"
        assert not one.is_valid({**found, "rule": name, "facts": {**facts, "unheard_of": 1}})


@pytest.mark.parametrize("command", ["diagnose", "history", "verify", "locate", "collect"])
def test_a_field_more_or_less_anywhere_in_a_document_is_seen(command):
    found = json.loads(run(*words_for(command, fixtures() / "k39-fenced", "--json")).raw)
    assert validator(command).is_valid(found)
    places = [one for one in parts(found) if one]
    for place in places[:: max(1, len(places) // 15)]:
        place["unheard_of"] = 1
        assert not validator(command).is_valid(found), place
        del place["unheard_of"]
        name, value = next(iter(place.items()))
        if name in EndedBy.__members__:
            continue  # counts of those who ended a transaction: only of whom there are some
        del place[name]
        assert not validator(command).is_valid(found), f"{name} of {place}"
        place[name] = value
