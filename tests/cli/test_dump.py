"""`kafkatx dump`: options, streams and exit codes."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kafkatx.cli.dump import dump
from kafkatx.cli.dump_tool import ToolOptions
from kafkatx.outputs.dump_options import NO_LIMIT, DecoderName, DumpOptions
from kafkatx.terms.errors import NothingReadableError, UsageError
from tests.dump_text.make import batch
from tests.evidence import ROOT

MADE = ROOT / "tests" / "dump_text" / "golden"
STATE = MADE / "__transaction_state-0" / "00000000000000000000.log"
TEXTS = MADE / "texts-0" / "00000000000000000000.log"
PROGRAM = (
    "import sys, typer; from kafkatx.cli.dump import dump; app = typer.Typer(); app.command()(dump); app(sys.argv[1:])"
)

app = typer.Typer()
app.command()(dump)


def run(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)))


def lines(*arguments: object) -> list[str]:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_files_are_given_as_arguments_or_as_the_tool_wants_them():
    assert lines("--files", f"{STATE},{TEXTS}") == lines("--files", STATE, TEXTS)
    shown = [line for line in lines("--files", f"{STATE},{TEXTS}") if line.startswith("Dumping")]
    assert shown == [f"Dumping {STATE}", f"Dumping {TEXTS}"]


def test_only_with_an_option_of_the_tool_less_than_everything_is_shown():
    everything = run(STATE).stdout
    assert everything == run("--transaction-log-decoder", "--files", STATE).stdout
    assert everything == run("--format", "text", STATE).stdout
    assert not [line for line in lines("--files", STATE) if line.startswith("|")]
    assert not [line for line in lines("--deep-iteration", STATE) if "key: " in line]
    assert [line for line in lines("--print-data-log", STATE) if "key: \0\0" in line]
    assert [line for line in lines("--max-bytes", 10**6, STATE) if line.startswith("base")]


@pytest.mark.parametrize(
    ("given", "decoder"),
    [
        (("transaction_log_decoder", "offsets_decoder"), DecoderName.OFFSETS),
        (("share_group_state_decoder", "transaction_log_decoder"), DecoderName.TRANSACTION_LOG),
        (("cluster_metadata_decoder",), DecoderName.CLUSTER_METADATA),
        (("remote_log_metadata_decoder",), DecoderName.REMOTE_LOG_METADATA),
        (("share_group_state_decoder",), DecoderName.SHARE_GROUP_STATE),
    ],
)
def test_of_several_decoders_the_first_of_the_tool_counts(given, decoder):
    options = ToolOptions(**dict.fromkeys(given, True)).options()
    assert (options.decoder, options.deep, options.data, options.as_tool) == (decoder, True, True, True)
    assert ToolOptions().options() == DumpOptions()
    assert ToolOptions(max_bytes=7).options().max_bytes == 7
    assert options.max_bytes == NO_LIMIT


def test_decoder_classes_of_numbers_are_known_and_others_are_wrong_usage(tmp_path):
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(batch(0, [{"key": (7).to_bytes(4, "big"), "value": b"\xff" * 8}]))
    shown = lines(
        "--key-decoder-class", "kafka.serializer.IntegerDecoder", "--value-decoder-class", "LongDecoder", file
    )
    assert shown[-1].endswith(" key: 7 payload: -1")
    assert lines("--value-decoder-class", "org.apache.kafka.tools.api.StringDecoder", file)[-1].endswith("\ufffd")
    assert isinstance(run("--key-decoder-class", "my.Avro", file).exception, UsageError)


def test_json_is_one_object_a_line():
    found = [json.loads(line) for line in lines("--json", STATE)]
    assert found == [json.loads(line) for line in lines("--format", "json", STATE)]
    assert [one["object"] for one in found[:3]] == ["file", "batch", "record"]


def test_damage_goes_to_standard_error_and_the_exit_code_stays_0(tmp_path):
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(batch(0, [{"value": b"v"}])[:-2])
    result = run(file)
    assert result.exit_code == 0
    assert "unreadable" in result.stderr
    assert "unreadable" not in result.stdout
    assert run("--quiet", file).stderr == ""


def test_nothing_given_is_wrong_usage_and_nothing_readable_is_said(tmp_path):
    unknown = tmp_path / "notes"
    unknown.write_bytes(b"\0\1\2")
    assert isinstance(run().exception, UsageError)
    assert isinstance(run(tmp_path / "absent.log").exception, UsageError)
    assert isinstance(run(unknown).exception, NothingReadableError)
    assert "Ignoring unknown file" in run(unknown).stderr


def test_the_result_can_be_written_to_a_file_outside_the_evidence(tmp_path):
    out = tmp_path / "dump.txt"
    assert run("--out", out, TEXTS).exit_code == 0
    assert out.read_bytes().decode() == run(TEXTS).stdout_bytes.decode()
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    (evidence / "00000000000000000000.log").write_bytes(TEXTS.read_bytes())
    assert isinstance(run("--out", evidence / "dump.txt", evidence).exception, UsageError)


def program(*arguments: object, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    return subprocess.run([sys.executable, "-c", PROGRAM, *map(str, arguments)], env=environment, check=True, **options)


def test_a_pipe_gets_the_bytes_of_the_tool_whatever_the_locale():
    done = program("--print-data-log", "--files", TEXTS, stdout=subprocess.PIPE, env={"LC_ALL": "C", "PYTHONUTF8": "0"})
    printed = TEXTS.with_suffix(".log.txt").read_bytes()
    assert done.stdout.partition(b"\n")[2] == printed.partition(b"\n")[2]
    assert b"\x1b[31m" in printed


def test_a_terminal_gets_no_acting_character(tmp_path):
    leader, follower = pty.openpty()
    shown = tmp_path / "shown"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(TEXTS)], stdout=follower, env=os.environ | {"PYTHONPATH": str(ROOT)}
    ) as process:
        os.close(follower)
        shown.write_bytes(b"".join(iter(lambda: read(leader), b"")))
        assert process.wait() == 0
    text = shown.read_bytes().decode()
    assert r"\x1b[31m" in text
    assert all(character.isprintable() or character in "\r\n" for character in text)


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""


def test_help_loads_neither_arrays_nor_arrow():
    code = f"import sys\nsys.argv = ['x', '--help']\ntry:\n    exec({PROGRAM!r})\nexcept SystemExit:\n    pass\n"
    code += "print([name for name in ('numpy', 'pyarrow', 'numba', 'construct') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_batches_alone_load_nothing_but_arrays():
    code = f"import sys\nsys.argv = ['x', '--files', {str(TEXTS)!r}]\n"
    code += f"try:\n    exec({PROGRAM!r})\nexcept SystemExit:\n    pass\n"
    needless = ("pyarrow", "numba", "construct", "kafkatx.evidence.log_reading", "kafkatx.terms.error_codes")
    code += f"print([name for name in {needless} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    *lines, loaded = done.stdout.splitlines()
    assert any(line.startswith("baseOffset: ") for line in lines)
    assert loaded == "[]"


def test_the_made_logs_are_where_this_test_looks():
    assert Path(STATE).is_file()
    assert Path(TEXTS).is_file()
