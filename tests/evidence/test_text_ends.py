"""How far a text that somebody writes to may be read, and what it is known by."""

from pathlib import Path

import pytest

from kafkatx.evidence import text_ends
from kafkatx.evidence.text_ends import end_of_text, known_by
from kafkatx.sources.files import OpenFile

ENTRY = "[2026-11-21 10:00:00,000] ERROR it failed\njava.lang.IllegalStateException: why\n\tat a.b(C.java:1)\n"
LAST = "[2026-11-21 10:00:01,000] INFO it goes on\n"


@pytest.fixture
def text(tmp_path):
    """Opens a text."""

    def opened(content: str) -> OpenFile:
        path = Path(tmp_path / "server.log")
        path.write_text(content)
        return OpenFile(str(path))

    return opened


@pytest.mark.parametrize(
    ("content", "whole", "quiet"),
    [
        ("", 0, 0),
        ("[2026-11-21", 0, 0),
        (ENTRY, 0, len(ENTRY)),
        (ENTRY[:-9], 0, ENTRY.rindex("\n", 0, -1) + 1),
        (ENTRY + LAST, len(ENTRY), len(ENTRY + LAST)),
        (LAST + ENTRY + LAST[:20], len(LAST), len(LAST + ENTRY)),
        (LAST + ENTRY + LAST + LAST, len(LAST + ENTRY + LAST), len(LAST + ENTRY + LAST + LAST)),
    ],
)
def test_the_last_entry_waits_until_it_is_whole(text, content, whole, quiet):
    with text(content) as file:
        assert (end_of_text(file, is_quiet=False), end_of_text(file, is_quiet=True)) == (whole, quiet)


def test_only_the_end_is_looked_at(text, monkeypatch):
    monkeypatch.setattr(text_ends, "LAST_BYTES", 200)
    with text(ENTRY * 50 + LAST) as file:
        assert end_of_text(file, is_quiet=False) == len(ENTRY) * 50
    with text(LAST + "x" * 500) as file:
        assert end_of_text(file, is_quiet=False) == len(LAST) + 300


def test_a_text_is_known_by_its_first_line(text):
    names = []
    for content in (ENTRY, ENTRY + LAST, LAST, "x" * 5000, "x" * 6000):
        with text(content) as file:
            names.append(known_by(file))
    assert names[0] == names[1] != names[2]
    assert names[3] == names[4] is not None
    with text(LAST[:-1]) as file:
        assert known_by(file) is None
