"""Evidence is only read, secrets stay secret, nothing from evidence acts on a terminal, and every end has its exit
code.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kafkatx.local.diagnosis
from tests.cases.commands import (
    BAR,
    FORMATS,
    fresh_folder,
    on_a_terminal,
    options_of,
    place_in,
    registered,
    run,
    started,
    words_for,
)
from tests.evidence import fixtures
from tests.rules.cluster import Cluster

COMMANDS = registered()
OVER_EVIDENCE = [command for command in COMMANDS if command != "explain"]
WITH_A_DOCUMENT = [command for command in OVER_EVIDENCE if command != "dump" and "--json" in options_of(command)]
"""Commands whose JSON is one document; dump writes JSON lines."""
WITH_TEXT = [command for command in COMMANDS if command not in ("dump", "report")]
"""Commands that write text for people to read on a terminal; the lines of dump are as long as they are."""

TO_A_FILE = [command for command in OVER_EVIDENCE if "--out" in options_of(command) and command != "export"]
RESULTS = [command for command in TO_A_FILE if command != "collect"]
"""Commands whose --out takes what standard output would have (collect packs a bundle)."""
"""Commands that write to a file what they write to standard output; `export` writes a folder."""

SECRETS = ("jaas-Kn0cked", "keystore-Kn0cked", "listener-Kn0cked", "token-Kn0cked", "inline-Kn0cked")
PROPERTIES = """\
bootstrap.servers=broker:9092
transactional.id=payments-eu-1
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="jaas-Kn0cked";
ssl.keystore.password=keystore-Kn0cked
listener.name.internal.ssl.key.password=listener-Kn0cked
com.example.api.token=token-Kn0cked
ssl.keystore.key=-----BEGIN PRIVATE KEY----- inline-Kn0cked -----END PRIVATE KEY-----
"""

HOSTILE_TOPIC = "or\x1b[31mders\u202e<script>alert(1)"
HOSTILE_IDS = ("\x1b]0;owned\x07evil\x1b[2J", "line\nbreak\r\x08\x9b31m", "<img src=x onerror=alert(1)>\u202eright")
ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A case as somebody sends it: data directory, configuration with secrets, text."""
    folder = tmp_path / "case"
    shutil.copytree(fixtures() / "k39-fenced", folder)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "client.properties").write_text(PROPERTIES)
    (folder / "broker-1" / "client.properties").write_text(PROPERTIES)
    return folder


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A data directory whose names would act on a terminal; something is wrong with each of the ids."""
    cluster = Cluster(tmp_path)
    for name in HOSTILE_IDS:
        cluster.init(name)
        cluster.begin(name, f"{HOSTILE_TOPIC}-0")
        cluster.init(name)
        cluster.begin(name, f"{HOSTILE_TOPIC}-0")
    cluster.wait(3_600_000)
    cluster.beat()
    (directory,) = cluster.write()
    return directory


def _snapshot(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Names, times and bytes of everything below a folder, and of the folder itself."""
    found: dict[str, tuple[Any, ...]] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        state = path.stat()
        found[str(path)] = (state.st_mtime_ns, state.st_mode, path.read_bytes() if path.is_file() else None)
    return found


@pytest.mark.parametrize("formats", FORMATS, ids=("text", "json"))
@pytest.mark.parametrize("command", COMMANDS)
def test_evidence_is_the_same_before_and_after(command: str, formats: tuple[str, ...], case: Path) -> None:
    before = _snapshot(case.parent)
    result = run(*words_for(command, case, *formats))
    assert result.code in (0, 1), result.err
    assert result.raw
    assert _snapshot(case.parent) == before


@pytest.mark.parametrize("command", [command for command in OVER_EVIDENCE if "--out" in options_of(command)])
def test_out_inside_the_evidence_is_refused(command: str, case: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").symlink_to(case / "broker-1")
    before = _snapshot(case)
    for target in ("broker-1/result", "result", "../case/config/result", "../elsewhere/result"):
        result = run(*words_for(command, case), "--out", str(case / target))
        assert (result.code, result.raw) == (2, b""), target
        assert "inside the evidence" in " ".join(result.err.split())
    assert _snapshot(case) == before


@pytest.mark.parametrize("command", RESULTS)
def test_out_beside_the_evidence_holds_what_standard_output_would(command: str, case: Path, tmp_path: Path) -> None:
    words = words_for(command, case)
    result = run(*words, "--out", str(tmp_path / "result"))
    assert (result.code, result.raw) == (0, b""), result.err
    assert (tmp_path / "result").read_bytes() == run(*words).raw
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case", "result"]


@pytest.mark.parametrize("formats", FORMATS, ids=("text", "json"))
@pytest.mark.parametrize("command", COMMANDS)
def test_secrets_are_in_no_output(command: str, formats: tuple[str, ...], case: Path) -> None:
    result = run(*words_for(command, case, *formats))
    assert not [secret for secret in SECRETS if secret in result.out + result.err]


@pytest.mark.parametrize("command", COMMANDS)
def test_names_from_evidence_do_not_act_on_a_terminal(command: str, hostile: Path) -> None:
    shown = on_a_terminal(*words_for(command, hostile)).decode("utf-8", "replace")
    assert shown
    assert not ACTING.search(COLOURS.sub("", BAR.sub("", shown.replace("\r\n", "\n"))))


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "dump"])
def test_names_from_evidence_are_escaped_in_text_for_pipes_too(command: str, hostile: Path) -> None:
    assert not ACTING.search(run(*words_for(command, hostile)).out)


@pytest.mark.parametrize("command", WITH_A_DOCUMENT)
def test_hostile_names_are_whole_in_json_and_act_nowhere(command: str, hostile: Path) -> None:
    result = run(*words_for(command, hostile, "--json"))
    assert result.raw.isascii()
    assert not ACTING.search(result.out)
    if command in ("diagnose", "history"):
        assert all(json.dumps(name)[1:-1] in result.out for name in HOSTILE_IDS)
        assert json.dumps(HOSTILE_TOPIC)[1:-1] in result.out


def test_done_is_0_also_with_findings(case: Path) -> None:
    assert run("diagnose", str(case)).code == 0


def test_a_finding_at_the_severity_of_fail_on_is_1_and_the_document_whole() -> None:
    broken = fixtures() / "k10-hanging"
    result = run("diagnose", str(broken), "--fail-on", "error", "--json")
    assert result.code == 1
    assert json.loads(result.out)["findings"]
    assert run("diagnose", str(fixtures() / "k39-healthy"), "--fail-on", "info").code == 0


def test_damage_is_1_for_verify_and_the_document_whole(case: Path) -> None:
    path = next(path for path in (case / "broker-1").rglob("*.log") if path.stat().st_size > 200)
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    result = run("verify", str(case), "--json")
    assert result.code == 1
    assert isinstance(json.loads(result.out), dict)


@pytest.mark.parametrize(
    "words",
    [
        ("diagnose", "no/such/path"),
        ("diagnose", "{case}", "--rule", "no_such_rule"),
        ("diagnose", "{case}", "--as-of", "yesterday"),
        ("diagnose", "{case}", "--capture", "name-without-path"),
        ("diagnose", "{case}", "--no-such-option"),
        ("diagnose",),
        ("history", "{case}", "--since", "29th of November"),
        ("locate", "{case}", "payments"),
        ("explain", "no-such-word-at-all"),
        ("no-such-command",),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2_and_says_nothing_on_standard_output(words: tuple[str, ...], case: Path) -> None:
    result = run(*(word.format(case=case) for word in words))
    assert (result.code, result.raw) == (2, b"")
    assert result.err.strip()
    assert "Traceback" not in result.err


@pytest.mark.parametrize("command", WITH_A_DOCUMENT)
def test_nothing_readable_is_3_with_a_whole_document(command: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of a broker\n")
    words = [command, str(tmp_path), *{"compare": [str(tmp_path)], "locate": ["orders-0:0"]}.get(command, [])]
    words += ["--out", str(fresh_folder())] if command == "export" else []
    for as_json in (["--json"], ["--format", "json"]):
        result = run(*words, *as_json)
        assert result.code == 3
        assert isinstance(json.loads(result.out), dict)
        assert len(result.err.splitlines()) == 1
    assert run(*words).code == 3


@pytest.mark.parametrize("command", TO_A_FILE)
def test_output_that_can_not_be_written_is_4(command: str, case: Path, tmp_path: Path) -> None:
    for target in (tmp_path / "no" / "such" / "folder" / "result", case.parent):
        result = run(*words_for(command, case), "--out", str(target))
        assert (result.code, result.raw) == (4, b""), result.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_behind_standard_output_is_4(command: str, case: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = started(*words_for(command, case), stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate()
    assert process.returncode == 4, err
    assert err.splitlines()[-1].startswith(b"kafkatx: standard output could not be written")
    assert b"Traceback" not in err


def _raising(error: BaseException) -> Any:
    def fail(*_: Any, **__: Any) -> Iterator[Any]:
        raise error

    return fail


def test_a_bug_is_70_in_one_line_and_a_traceback_only_with_debug(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafkatx.local.diagnosis, "diagnose", _raising(RuntimeError("\x1b[31mof ours")))
    result = run("diagnose", str(case))
    assert (result.code, result.raw, len(result.err.splitlines())) == (70, b"", 1)
    assert not ACTING.search(result.err)
    with pytest.raises(RuntimeError):
        run("--debug", "diagnose", str(case))


def test_an_interruption_is_130(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafkatx.local.diagnosis, "diagnose", _raising(KeyboardInterrupt()))
    assert run("diagnose", str(case)).code == 130


def test_an_interruption_leaves_no_half_written_file(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafkatx.local.diagnosis, "diagnose", _raising(KeyboardInterrupt()))
    assert run("diagnose", str(case), "--out", str(tmp_path / "result")).code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["case"]


@pytest.mark.parametrize("formats", FORMATS, ids=("text", "json"))
@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_that_closes_early_ends_a_command_quietly(command: str, formats: tuple[str, ...]) -> None:
    """The pipe is small where it can be made so: no case alone would fill one of the usual 64 KiB."""
    reader, writer = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    process = started(
        *words_for(command, fixtures() / "k39-client-aborts", *formats), stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    _, err = process.communicate()
    assert process.returncode in (0, 1) if command == "verify" else process.returncode == 0, err
    assert b"rror" not in err
    assert b"Traceback" not in err


@pytest.mark.parametrize("command", WITH_TEXT)
def test_text_for_no_terminal_has_80_columns_no_colour_and_no_trailing_spaces(command: str, case: Path) -> None:
    lines = run(*words_for(command, Path(os.path.relpath(case)))).out.splitlines()
    assert lines
    assert not [line for line in lines if line != line.rstrip() or "\x1b" in line]
    assert not [line for line in lines if len(line) > 80 and len(max(line.split(), key=len)) < 60]


def test_a_terminal_gets_colour_unless_no_color_says_otherwise(case: Path) -> None:
    words = ("diagnose", str(case))
    assert COLOURS.search(on_a_terminal(*words).decode())
    plain = on_a_terminal(*words, NO_COLOR="1").decode()
    assert not [code for code in COLOURS.findall(plain) if re.search(r"[;\[](3|4|9|10)[0-7]", code)]


def test_times_that_are_asked_for_are_taken(case: Path) -> None:
    for moment in ("2026-12-01", "2026-12-01T10:00:00Z", "2026-12-01T10:00:00+02:00", "1970-01-01T00:00:00Z"):
        result = run("diagnose", str(case), "--as-of", moment, "--json")
        assert result.code == 0, result.err
        assert json.loads(result.out)["findings"]


def test_same_file_under_several_names_and_twice_is_one_fact(case: Path) -> None:
    once = json.loads(run("diagnose", str(case), "--json").out)["findings"]
    again = case.parent / "again"
    shutil.copytree(case / "broker-1", again)
    twice = json.loads(run("diagnose", str(case), str(case / "broker-1"), str(again), str(again), "--json").out)[
        "findings"
    ]
    assert [(finding["id"], finding["summary"]) for finding in twice] == [(f["id"], f["summary"]) for f in once]


def test_place_for_locate_is_one_of_the_evidence(case: Path) -> None:
    assert run("locate", str(case), place_in(case)).code == 0
