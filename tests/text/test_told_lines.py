"""What a program prints of its settings tells nothing but their values: a log says the same without asking it more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.sources.files import OpenFile
from kafkatx.text import events, framed_pages
from kafkatx.text.events import LogFacts, LogSource, Statement
from kafkatx.text.lines import Line, Page, lines
from kafkatx.text.logs import reading, windows
from kafkatx.text.logs.reading import read_log
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.pages.parts import parts
from kafkatx.text.prose import named_errors, statements
from kafkatx.text.told_lines import ValuesBlock, told_lines

FIXTURES = Path(__file__).parents[2] / "fixtures"
LOGS = sorted(
    path for path in FIXTURES.glob("*/logs/**/*") if path.is_file() and b"Config values:" in path.read_bytes()
)
LAST_RESORT = {events.FAILED, events.KAFKA_FAILED}
ASKING = (framed_pages, reading, windows)
HEADING = (
    "2026-11-21 10:28:56.792 [main] INFO  org.apache.kafka.clients.producer.ProducerConfig - ProducerConfig values: "
)


def _told(text: str) -> list[str]:
    return [line.text for line in told_lines(lines(Page(text.encode())))]


def _all(source: Iterable[Line]) -> Iterator[Line]:
    return iter(source)


def _without_statements(facts: LogFacts) -> list[LogSource]:
    return [replace(source, statements=()) for source in facts.sources]


def _without_traits(source: LogSource) -> set[Statement]:
    return {one for one in source.statements if one.name != events.TRAIT}


def _read(path: Path) -> tuple[list[TextPart], list[LogFacts]]:
    for known in (framed_pages.framed_page, named_errors._named_on, statements._said_on):
        known.cache_clear()
    with OpenFile(str(path)) as file:
        found = parts(file)
        return found, [read_log(file, part) for part in found if part.kind is PartKind.LOG]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_a_log_tells_the_same_when_every_line_is_asked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for what is told of a sentence for want of anything else: settings are no sentences that it stands among."""
    found, told = _read(path)
    for module in ASKING:
        monkeypatch.setattr(module, "told_lines", _all)
    monkeypatch.setattr(ValuesBlock, "takes", lambda block, text: False)
    found_of_all, told_of_all = _read(path)
    assert found == found_of_all
    for one, other in zip(told, told_of_all, strict=True):
        assert _without_statements(one) == _without_statements(other)
        for source, source_of_all in zip(one.sources, other.sources, strict=True):
            assert _without_traits(source) <= _without_traits(source_of_all)
            assert {one.error for one in _without_traits(source_of_all) - _without_traits(source)} <= LAST_RESORT
        assert one.settings == other.settings
        assert one.strings == other.strings
        assert one.events.tolist() == other.events.tolist()


def test_settings_are_most_of_what_the_logs_of_clients_hold() -> None:
    whole = sum(len(path.read_text(errors="replace").splitlines()) for path in LOGS)
    assert len(LOGS) > 50
    assert 2 * sum(len(_told(path.read_text(errors="replace"))) for path in LOGS) < whole


def test_the_values_of_a_block_are_left_out() -> None:
    text = f"before\n{HEADING}\n\tacks = -1\n\tbatch.size = 16384\n\tclient.id = p-1\n\tretries = 0\n\nbehind"
    assert _told(text) == ["before", HEADING, "", "behind"]


@pytest.mark.parametrize(
    "text",
    [
        "my config values:\n\tacks = -1\n\tbatch.size = 16384\n\tretries = 0",
        f"{HEADING}\nacks = -1\nbatch.size = 16384\nretries = 0",
        f"{HEADING}\n> \tacks = -1\n> \tbatch.size = 16384\n> \tretries = 0",
        f"{HEADING}\n\tacks = `-1`\n\tfailed = <b>fenced</b>\n\tretries = &lt;0&gt;",
        f'{HEADING}\n\tfoo = {{"error": "fenced"}}\n\tbar = "fenced"\n\tretries = it\'s fenced',
        f"{HEADING}\n\tjava.lang.IllegalStateException: fenced\n\tacks = -1\n\tretries = 0",
        "\tacks = -1\n\tbatch.size = 16384\n\tretries = 0",
    ],
    ids=["prose", "without its tabs", "quoted", "of a page", "of a program", "below another line", "cut above"],
)
def test_what_a_page_has_changed_is_asked(text: str) -> None:
    assert _told(text) == text.split("\n")


def test_settings_within_a_record_are_its_content(tmp_path: Path) -> None:
    """A record whose value is a client's log: what its declared size takes in is content, whatever it looks like."""
    value = f"{HEADING}\n\tacks = -1\n\tbatch.size = 16384\n\tlinger.ms = 0\n\tretries = 0\n"
    record = (
        "| offset: {0} CreateTime: 1760000000000 keySize: 3 valueSize: {1} sequence: {0} headerKeys: [] "
        "key: k-{0} payload: {2}\n"
    )
    batch = (
        "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 0 lastSequence: 1 producerId: 1 producerEpoch: 0 "
        "partitionLeaderEpoch: 0 isTransactional: true isControl: false position: 0 CreateTime: 1760000000000 "
        "size: 400 magic: 2 compresscodec: none crc: 1 isvalid: true\n"
    )
    path = tmp_path / "page.txt"
    path.write_text(
        "Dumping /data/orders-0/00000000000000000000.log\nStarting offset: 0\n"
        + batch
        + "".join(record.format(number, len(value), value) for number in (0, 1))
    )
    with OpenFile(str(path)) as file:
        assert [(part.kind, part.end) for part in parts(file)] == [(PartKind.DUMP_LOG, path.stat().st_size)]


def _line(names: Callable[[], st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.just(HEADING),
        st.builds("\t{} = {}".format, names(), st.sampled_from(["0", "", "null", "[a, b]", "<b>"])),
        st.sampled_from(["", "at a.b(C.java:1)", "It fails."]),
    )


@given(st.lists(_line(lambda: st.from_regex(r"[a-z.]{2,8}", fullmatch=True)), max_size=30))
def test_only_values_below_a_heading_are_left_out(texts: list[str]) -> None:
    source = [*lines(Page("\n".join(texts).encode()))]
    told = [*told_lines(source)]
    places = {line.number for line in told}
    assert told == [line for line in source if line.number in places]
    for number, line in enumerate(source):
        if line.number not in places:
            assert line.text.startswith("\t")
            assert " = " in line.text
            assert source[number - 1].text == HEADING or number not in places
