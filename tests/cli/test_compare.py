"""`kafkatx compare`: what it prints of recorded and made pairs, what it takes, and how it ends."""

import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafkatx.outputs.comparing.as_text import MOST_LISTED, print_comparison
from kafkatx.outputs.diagnosis_json import to_json
from tests.cases.commands import Result, run
from tests.evidence import ROOT
from tests.outputs.comparing.diagnoses import compared, diagnosis, found
from tests.rules.cluster import HOUR, MINUTE, Cluster

FENCED, HEALTHY, TIMEOUT = (f"fixtures/{name}" for name in ("k39-fenced", "k39-healthy", "k39-timeout"))


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return where the diagnosis of a path was saved: each path is diagnosed once."""
    folder, known = tmp_path_factory.mktemp("saved"), {}

    def save(path: str) -> str:
        if path not in known:
            known[path] = str(folder / f"{len(known)}.json")
            assert run("diagnose", path, "--json", "--out", known[path]).code == 0
        return known[path]

    return save


@dataclass(frozen=True, slots=True)
class Story:
    """Data directories of one cluster: a transaction hangs; it was aborted; it hangs on; it was deleted."""

    before: str
    ended: str
    on: str
    deleted: str


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    cluster.init("payments-1")
    cluster.run("payments-1", "orders-0")
    cluster.begin("payments-1", "orders-0", records=3)
    cluster.init("other")
    cluster.run("other", "orders-0", times=3)
    cluster.wait(HOUR)
    cluster.beat()
    (before,) = cluster.write()
    cluster.wait(MINUTE)
    cluster.run("other", "orders-0")
    (on,) = cluster.write()
    cluster.abort("payments-1")
    cluster.run("payments-1", "orders-0")
    cluster.beat()
    (ended,) = cluster.write()
    deleted = ended.parent.parent / "deleted"
    shutil.copytree(ended, deleted)
    (deleted / "orders-0" / f"{0:020}.log").unlink()
    return Story(*map(str, (before, ended, on, deleted)))


def both(golden: Callable[[str, str], None], name: str, *words: str) -> str:
    """Hold text and document against what is kept."""
    text = run("compare", *words)
    assert (text.code, text.err) == (0, "")
    golden(f"compare-{name}.txt", text.out)
    assert not [line for line in text.out.splitlines() if len(line) > 80 or line.endswith(" ")]
    return text.out


def test_a_case_is_as_itself_saved_or_not(golden, saved):
    text = both(golden, "same", saved(FENCED), FENCED)
    assert text == run("compare", saved(FENCED), saved(FENCED)).out
    told = json.loads(run("compare", saved(FENCED), saved(FENCED), "--json").out)
    assert (told["answer"]["state"], told["new"], told["gone"], told["changed"]) == ("remains", [], [], [])


def test_healthy_evidence_of_another_cluster_covers_nothing(golden, saved):
    both(golden, "healthy", saved(FENCED), saved(HEALTHY))
    told = json.loads(run("compare", saved(FENCED), saved(HEALTHY), "--json").out)
    assert (told["gone"][0]["covered"], told["gone"][0]["reason"]) == ("not_covered", "other_cluster")


def test_two_incidents_are_new_and_gone(golden, saved):
    both(golden, "incidents", saved(TIMEOUT), saved(FENCED))


def test_a_copy_that_breaks_off_earlier_proves_nothing(golden, saved, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(f"{FENCED}/broker-1", copy)
    path = copy / "__transaction_state-0" / f"{0:020}.log"
    path.write_bytes(path.read_bytes()[:1500])
    told = json.loads(run("compare", saved(FENCED), str(copy), "--json").out)
    assert not [one for one in told["gone"] if one["covered"] == "covered"]
    assert told["answer"]["state"] != "held"


def test_the_fix_held_where_the_partition_read_on_shows_it(golden, saved, story):
    both(golden, "held", saved(story.before), saved(story.ended))
    told = json.loads(run("compare", saved(story.before), saved(story.ended), "--json").out)
    golden("compare-held.json", json.dumps({**told, "kafkatx": ""}, indent=1) + "\n")
    assert {one["reason"] for one in told["gone"]} == {"ended"}


def test_what_hangs_on_has_changed_and_what_was_deleted_is_not_fixed(golden, saved, story):
    both(golden, "hangs-on", saved(story.before), saved(story.on))
    told = json.loads(run("compare", saved(story.before), story.deleted, "--json").out)
    assert told["answer"]["state"] in ("unknown", "worse", "remains")
    assert not [one for one in told["gone"] if one["has_ended"]]


def test_backwards_the_hanging_transaction_is_new_and_fails(golden, saved, story):
    words = ("compare", saved(story.ended), saved(story.before))
    golden("compare-backwards.txt", run(*words).out)
    assert [run(*words, "--fail-on", level).code for level in ("never", "info", "warning", "error")] == [0, 1, 1, 1]
    other = ("compare", saved(story.before), saved(story.before))
    assert run(*other, "--fail-on", "info").code == 0
    held = run("compare", saved(story.before), saved(story.ended), "--fail-on", "warning", "--json")
    assert (held.code, json.loads(held.out)["answer"]["state"]) == (0, "held")


def test_long_lists_say_how_many_more_there_are():
    from kafkatx.cli.destination import console_for
    from kafkatx.cli.options import Colour

    findings = [found(f"{number:02}", transactional_id=f"id-{number:02}") for number in range(MOST_LISTED + 2)]
    stream = io.StringIO()
    print_comparison(console_for(stream, Colour.never), compared(diagnosis(), diagnosis(*findings)))
    assert stream.getvalue().count("it went wrong") == MOST_LISTED
    assert "and 2 more: --json lists them" in stream.getvalue()


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))

    return give


def test_standard_input_is_one_of_the_two_saved_or_evidence(saved, piped):
    piped(Path(saved(FENCED)).read_bytes())
    assert run("compare", saved(FENCED), "-").out.startswith("1 as before.")
    piped(Path(f"{FENCED}/logs/client-payments-a.log").read_bytes())
    assert "1 error" in run("compare", saved(FENCED), "-").out
    assert run("compare", "-", "-").code == 2


def refused(path: Path, data: bytes) -> Result:
    path.write_bytes(data)
    result = run("compare", str(path), HEALTHY)
    assert (result.code, result.raw) == (3, b"")
    assert len(result.err.splitlines()) == 1
    assert str(path) in result.err
    return result


def test_what_begins_as_a_saved_diagnosis_and_is_none_is_refused_in_one_line(saved, tmp_path):
    whole = Path(saved(FENCED)).read_bytes()
    path = tmp_path / "monday.json"
    assert "damaged or cut" in refused(path, whole[: len(whole) // 2]).err
    assert "it has schema 1" in refused(path, whole.replace(b'"schema": 2', b'"schema": 1')).err
    assert "nested too deep" in refused(path, b'{"kafkatx": ' + b"[" * 200_000).err
    assert "not one of" in refused(path, whole.replace(b'"error",', b'"\\u001b[31mred",')).err
    result = run("compare", str(path), saved(HEALTHY), "--json")
    assert (result.code, json.loads(result.out)["answer"]["state"]) == (3, "nothing_to_judge")


def test_a_document_is_known_in_whatever_order_a_tool_wrote_it(saved, tmp_path):
    path = tmp_path / "sorted.json"
    path.write_text(json.dumps(json.loads(Path(saved(FENCED)).read_text()), sort_keys=True))
    assert run("compare", str(path), saved(FENCED)).out.startswith("1 as before.")


def test_json_that_is_no_diagnosis_is_evidence(saved, tmp_path):
    path = tmp_path / "log.json"
    path.write_text('{"level": "INFO", "message": "hello"}\n' * 3)
    result = run("compare", saved(FENCED), str(path))
    assert (result.code, result.err) == (0, "")
    assert "No answer: the later diagnosis had nothing to judge" in result.out


def test_a_saved_document_larger_than_any_is_refused(monkeypatch, saved):
    monkeypatch.setattr("kafkatx.cli.saved.MOST_BYTES", 1_000)
    result = run("compare", saved(FENCED), saved(FENCED))
    assert (result.code, len(result.err.splitlines())) == (3, 1)
    assert "larger than 1,000 bytes" in result.err


def test_names_from_a_document_do_not_act_on_a_terminal(tmp_path):
    hostile = found("a", transactional_id="\x1b]0;owned\x07\u202e", title="\x1b[2J", who="\x9b31m")
    path = tmp_path / "hostile.json"
    path.write_text(to_json(diagnosis(hostile), "1"))
    text = run("compare", str(path), str(path)).out
    assert "\\x9b31m: \\x1b[2J (proved)" in text
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(text)
