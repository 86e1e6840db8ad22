"""One bar for all commands: bytes of bytes in all, nothing of a name acts on the terminal, nothing is left behind."""

import io
import re
import threading
from types import SimpleNamespace

import pytest

from kafkatx.cli.progress import NAME, Bar, ExportBar, export_progress, is_watched, progress, shown
from kafkatx.local.diagnosis import diagnose
from kafkatx.local.verification import verify
from kafkatx.sources.files import OpenFile
from kafkatx.tables.catalogue import EXPORTED
from tests.cases.commands import BAR, on_a_terminal, run
from tests.evidence import FIXTURES

CASE = FIXTURES / "k39-fenced"
ACTS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal(io.StringIO):
    """Standard error that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch) -> Terminal:
    found = Terminal()
    monkeypatch.setattr("kafkatx.cli.progress.sys", SimpleNamespace(stderr=found))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return found


def drawn(bar: Bar, terminal: Terminal) -> str:
    """The line as it stands now, without what only acts."""
    bar._display.refresh()
    return ACTS.sub("", terminal.getvalue().rpartition("\r")[2]).strip()


def test_it_shows_the_file_and_the_bytes_of_bytes_in_all(terminal):
    bar = Bar()
    bar.expect(3_000_000)
    bar.expect(1_000_000)
    bar.show()
    assert "0.0/4.0 MB" in drawn(bar, terminal)
    bar("a.log", 1_000_000)
    assert drawn(bar, terminal).startswith("a.log ")
    bar("b.log", 3_000_000)
    assert "1.0/4.0 MB" in drawn(bar, terminal)
    bar.close()


def test_it_moves_within_a_file_as_it_is_read_and_not_where_its_end_is_looked_at(terminal):
    bar = Bar()
    bar.expect(4_000_000)
    bar.show()
    bar("a.log", 4_000_000)
    bar.was_read("a.log", 3_900_000, 4_000_000)
    bar.was_read("b.log", 0, 2_000_000)
    assert "0.0/4.0 MB" in drawn(bar, terminal)
    bar.was_read("a.log", 0, 1_000_000)
    bar.was_read("a.log", 1_000_000, 2_000_000)
    assert "2.0/4.0 MB" in drawn(bar, terminal)
    bar.close()


def test_it_tells_of_reads_of_files(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(bytes(1_000))
    bar = Bar()
    bar(str(path), 1_000)
    with shown(bar), OpenFile(str(path)) as file:
        file.read(0, 600)
        assert bar._within == 600
    with OpenFile(str(path)) as file:
        file.read(600, 400)
    assert bar._within == 600


NAMES = {
    "a\x1b[31mb\nc\u202e.log": "a\\x1b[31mb\\x0ac\\u202e.log",
    "[bold red]x[/].log": "[bold red]x[/].log",
    ":smile:.log": ":smile:.log",
    "x" * 300: "..." + "x" * (NAME - 3),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_shown_and_does_not_act(terminal, name):
    bar = Bar()
    bar.show()
    bar(name, 5)
    line = drawn(bar, terminal)
    assert len(line) <= 80
    assert "\x1b[31m" not in terminal.getvalue()
    assert "\u202e" not in terminal.getvalue()
    assert line.startswith(
        ("a\\x1b[31mb\\x0ac\\u202e.log", "[bold red]x[/].log", ":smile:.log", "..." + "x" * (NAME - 3))
    )
    bar.close()
    assert BAR.sub("", terminal.getvalue()) == ""


def test_it_goes_without_a_trace_and_never_hides_the_cursor(terminal):
    bar = Bar()
    bar.show()
    bar.close()
    bar.show()
    assert "\x1b[?25l" not in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_a_warning_stands_above_it(terminal):
    bar = Bar()
    bar.show()
    bar.complain("[orders] is torn")
    bar.close()
    assert "[orders] is torn\n" in ACTS.sub("", terminal.getvalue())


def test_quick_work_shows_nothing(terminal):
    with progress(quiet=False) as bar:
        bar("a", 1)
    assert terminal.getvalue() == ""
    assert bar._display is None


def test_slow_work_shows_it(terminal, monkeypatch):
    monkeypatch.setattr("kafkatx.cli.progress.AFTER", 0.0)
    began = threading.Event()
    monkeypatch.setattr(Bar, "show", lambda bar: began.set())
    with progress(quiet=False):
        assert began.wait(30)


def test_nobody_looks_at_a_file_a_dumb_terminal_or_wants_to(terminal, monkeypatch):
    assert is_watched(quiet=False)
    assert not is_watched(quiet=True)
    monkeypatch.setenv("TERM", "dumb")
    assert not is_watched(quiet=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("kafkatx.cli.progress.sys", SimpleNamespace(stderr=io.StringIO()))
    assert not is_watched(quiet=False)
    with progress(quiet=False) as bar, export_progress(("files",), 1, quiet=False) as other:
        assert bar is None
        assert other._display is None


def test_an_export_counts_the_bytes_of_all_its_tables(terminal):
    bar = ExportBar(("files", "records"), 2_000_000)
    bar.show()
    bar.begin("files")
    assert "files, table 1 of 2" in drawn(bar, terminal)
    bar.begin("records")
    assert "2.0/4.0 MB" in drawn(bar, terminal)
    bar.file("a", 1_000_000)
    bar.file("b", 1_000_000)
    bar.read(2_000)
    assert "records: 2,000 rows read" in drawn(bar, terminal)
    assert "3.0/4.0 MB" in drawn(bar, terminal)
    bar.wrote(1_500)
    assert "records: 1,500 of 2,000 rows written" in drawn(bar, terminal)
    assert "4.0/4.0 MB" in drawn(bar, terminal)
    bar.close()


class Seen:
    """Stands for a bar."""

    def __init__(self) -> None:
        self.expected, self.files = 0, dict[str, int]()

    def expect(self, size: int) -> None:
        self.expected += size

    def __call__(self, path: str, size: int) -> None:
        assert path not in self.files
        self.files[path] = size


@pytest.mark.parametrize("command", [diagnose, verify], ids=lambda command: command.__name__)
def test_a_command_reads_as_many_bytes_as_it_said(command):
    seen = Seen()
    command([CASE], progress=seen)
    assert seen.expected == sum(seen.files.values()) > 0


def test_a_terminal_that_is_quick_or_quiet_sees_no_bar(tmp_path):
    shown = on_a_terminal("export", str(CASE / "broker-1"), "--out", str(tmp_path / "tables"), "--quiet", NO_COLOR="1")
    assert "━" not in shown.decode()
    assert f"Wrote {len(EXPORTED)} tables" in shown.decode()


def test_a_dump_tells_of_damage_where_nobody_looks_at_a_bar(tmp_path):
    (tmp_path / "00000000000000000000.index").write_bytes(b"torn")
    assert "4 bytes at the end are no entry" in run("dump", str(tmp_path)).err
