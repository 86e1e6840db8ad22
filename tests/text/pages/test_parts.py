"""Files of text: what is one at all, large ones, settings, and what nobody should have to read."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.text.pages import parts as module
from kafkatx.text.pages.cutting import MOST_PARTS
from kafkatx.text.pages.likeness import is_log_line
from kafkatx.text.pages.part import PartKind
from kafkatx.text.pages.parts import parts
from kafkatx.text.textual import is_text
from tests.evidence import cases
from tests.text import pasting
from tests.text.pages.test_cutting import WARNING, batch, dump, marker
from tests.text.pasting import cut_text

KINDS = PartKind
LOG_LINE = b"[2026-11-21 10:23:51,003] INFO [TransactionCoordinator id=1] Initialized transactionalId %d (kafka.Foo)\n"
BINARY = "| offset: 1 CreateTime: 1 keysize: 4 valuesize: 6 sequence: 0 headerKeys: [] payload: \x00\x01\x00\x06\x00"


def recorded(pattern: str, most: int = 60) -> list[Path]:
    found = [path for case in cases() for path in sorted(case.glob(pattern)) if path.is_file() and path.stat().st_size]
    return found[:: max(1, len(found) // most)]


@pytest.mark.parametrize("pattern", ["logs/**/*.log", "config/*.properties", "kafka-dump-log/*/*/*.txt"])
def test_recorded_texts_are_texts(pattern: str) -> None:
    for path in recorded(pattern):
        assert is_text(path.read_bytes()[: 1 << 16])


@pytest.mark.parametrize("pattern", ["broker-*/*/*.index", "broker-*/*/*.timeindex", "broker-*/*/*.snapshot"])
def test_recorded_indexes_and_snapshots_are_none(pattern: str) -> None:
    for path in recorded(pattern):
        assert not is_text(path.read_bytes()[: 1 << 16])


def test_a_dump_with_binary_contents_is_a_text_and_noise_is_none() -> None:
    assert is_text(dump(batch(0), *[BINARY] * 50).encode())
    assert is_text(b"caf\xe9 au lait\n" * 100)
    assert is_text("Dumping".encode("utf-16"))
    assert not is_text(b"")
    assert not is_text(bytes(4096))
    assert not is_text(random.Random(1).randbytes(65_536))


def test_recorded_logs_and_settings_are_one_part_each(tmp_path: Path) -> None:
    for pattern, kind in (("logs/**/*.log", KINDS.LOG), ("config/*.properties", KINDS.SETTINGS)):
        for path in recorded(pattern, 40):
            data = path.read_bytes()
            assert [(part.kind, part.position, part.end) for part in cut_text(tmp_path, data)] == [(kind, 0, len(data))]


def test_a_large_log_gives_the_parts_that_a_small_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = [LOG_LINE % number for number in range(2400)]
    pasted = dump(batch(0), batch(2), marker(4)).encode()
    data = b"".join([*log[:800], pasted, *log[800:1800], b"> " + batch(7).encode() + b"\n", *log[1800:]])
    path = tmp_path / "server.log"
    path.write_bytes(data)
    with OpenFile(str(path)) as file:
        small = parts(file)
        for block in (1 << 22, 1 << 17, 50_000):
            monkeypatch.setattr(module, "LARGE", 1000)
            monkeypatch.setattr(module, "BLOCK", block)
            assert parts(file) == small
    assert [(part.kind, part.topic) for part in small] == [
        (KINDS.LOG, None),
        (KINDS.DUMP_LOG, "orders"),
        (KINDS.LOG, None),
        (KINDS.DUMP_LOG, "orders"),
        (KINDS.LOG, None),
    ]
    assert [part.line for part in small] == [1, 801, 806, 1806, 1807]
    assert small[-1].end == len(data)


def test_a_large_log_without_dumps_is_not_read_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(LOG_LINE * 60_000)
    read: list[int] = []
    real = module.lines
    monkeypatch.setattr(module, "lines", lambda *given: (read.append(1) or line for line in real(*given)))
    with OpenFile(str(path)) as file:
        assert [part.kind for part in parts(file)] == [KINDS.LOG]
    assert 0 < len(read) < 30_000


def test_a_large_dump_is_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 1000)
    (part,) = cut_text(tmp_path, dump(*[batch(number) for number in range(0, 4000, 2)]))
    assert (part.kind, part.is_whole, part.is_elided) == (KINDS.DUMP_LOG, True, False)


def test_windows_text_is_cut_at_its_own_bytes(tmp_path: Path) -> None:
    data = ("\ufeff" + f"prose\n{dump(batch(0))}more\n").replace("\n", "\r\n").encode("utf-16-le")
    found = cut_text(tmp_path, data)
    assert [part.kind for part in found] == [KINDS.PROSE, KINDS.DUMP_LOG, KINDS.PROSE]
    assert data[found[1].position : found[1].end].decode("utf-16-le").startswith("Dumping ")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\x00" * 100_000,
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"a" * (3 << 20),
        b"| offset: " * 200_000,
        b"Dumping " + b"x/" * 500_000,
        b"Dumping \xff\xfe\n" * 1000,
        b"```\n" * 4_000,
        b"\\\n" * 4_000,
        b"--files \\\n" * 4_000,
        b"# h\n" * 4_000,
        b"\tat a.b.C(D.java:1)\n" * 4_000,
        b"offset: 1 position: 2\n" * 4_000,
        b"t::TransactionMetadata(\n" * 5_000,
        b'{"key":{"version":0,"data":{"transactionalId":"t"}},"value":null}' * 8_000,
        b"a.b=c\n" * 8_000,
        b"orders-0:\n" * 4_000,
        b"...\n" * 8_000,
        b"\x1b]0;title\x07\x1b[31m<script>\n" * 3_000,
    ],
    ids=lambda data: repr(data[:16]),
)
def test_hostile_text_is_cut_into_parts_that_do_not_overlap(tmp_path: Path, data: bytes) -> None:
    found = cut_text(tmp_path, data)
    assert all(0 <= part.position < part.end <= len(data) for part in found)
    assert all(one.end <= other.position for one, other in pairwise(found))
    assert len(found) <= MOST_PARTS + 2


def test_mutated_pages_never_raise(tmp_path: Path) -> None:
    chance = random.Random(7)
    for path in pasting.dumps(".log", 12):
        data = bytearray(path.read_bytes()[:6000])
        for _ in range(40):
            data[chance.randrange(len(data))] = chance.choice(b"\n\r|>: 0\\.\x00\xff")
        found = cut_text(tmp_path, bytes(data) + WARNING.encode())
        assert all(one.end <= other.position for one, other in pairwise(found))


def test_a_damaged_stretch_does_not_make_two_logs_of_one(tmp_path: Path) -> None:
    log, damage = LOG_LINE.replace(b"%d", b"x") * 40, "\n\u2028\nno line of a log\n".encode() + b"\0" * 900 + b"\n"
    path = tmp_path / "server.log"
    path.write_bytes(log + damage + log)
    with OpenFile(str(path)) as file:
        assert [(part.kind, part.position, part.end) for part in parts(file)] == [(KINDS.LOG, 0, file.size)]


def test_short_logs_with_prose_between_stay_two(tmp_path: Path) -> None:
    log = LOG_LINE.replace(b"%d", b"x") * 4
    path = tmp_path / "page.md"
    path.write_bytes(log + b"\nAnd this is what the other broker wrote in the same minute:\n\n" + log)
    with OpenFile(str(path)) as file:
        assert [part.kind for part in parts(file)] == [KINDS.LOG, KINDS.PROSE, KINDS.LOG]


def test_a_log_with_a_run_of_nul_is_a_text() -> None:
    assert is_text(LOG_LINE * 3 + b"\0" * 30_000 + b"\n" + LOG_LINE * 3)
    assert not is_text(b"\0" * 30_000)


@pytest.mark.parametrize(
    "line", ["offset: 1 producerId: 1 offset: 1 producerId: 1 offset: 1", "offset: 1 " + "... " * 9]
)
def test_what_repeats_itself_is_no_line_of_a_dump(tmp_path: Path, line: str) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"{line}\n")
    with OpenFile(str(path)) as file:
        assert {part.kind for part in parts(file)} <= {KINDS.PROSE}


def test_a_line_behind_the_tag_of_its_writer_is_one_of_a_log():
    assert is_log_line("[job-1] 2025-03-03 09:00:12,008 INFO  o.a.k.c.p.internals.TransactionManager [] - up")
    assert not is_log_line("[job-1] was started at 09:00:12 by the deployer")


ANSWERS = (
    '{"error":{"type":"org.apache.kafka.common.errors.ProducerFencedException","message":"a newer one"},"app":"pay"}',
    '{"title":"Internal Server Error","status":500,"type":"ProducerFencedException","detail":"There is a newer one"}',
    '{"service":"pay","outcome":{"cause":"INVALID_PRODUCER_EPOCH in the transaction of batch 4"}}',
)
"""What services answer to a call that failed, without a time and a level."""
DOCUMENTS = (
    '{"type":"record","name":"ProducerFencedException","fields":[{"name":"id","type":"string"}]}',
    '{"title":"Kafka transactions","panels":[{"title":"ProducerFencedException","message":"per minute"}]}',
    '{"message":"known errors of transactions","errors":{"a":{"message":"ProducerFencedException"},'
    '"b":{"message":"InvalidTxnStateException"},"c":{"message":"OutOfOrderSequenceException"}}}',
    '{"description":"ProducerFencedException: the transaction was fenced","in":"body"}',
)


@pytest.mark.parametrize(
    ("text", "kind"), [*((one, PartKind.WORDS) for one in ANSWERS), *((one, PartKind.PROSE) for one in DOCUMENTS)]
)
def test_an_answer_without_time_and_level_tells_of_its_error_and_no_other_document(
    tmp_path: Path, text: str, kind: PartKind
) -> None:
    path = tmp_path / "answer.json"
    path.write_text(text)
    with OpenFile(str(path)) as file:
        assert [part.kind for part in parts(file)] == [kind]
