"""What holds for a whole page is worked out once, however many logs and dumps stand on it."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.text.events import MET
from kafkatx.text.lines import Page, lines
from kafkatx.text.logs.reading import read_log
from kafkatx.text.pages.part import PartKind
from kafkatx.text.pages.parts import parts
from kafkatx.text.prose import named_errors, statements
from kafkatx.text.whole_pages import LARGEST_PAGE, page_of

STEP = """
And then, at step {step}, InvalidPidMappingException came again.
Nobody else uses that id.

Dumping /data/orders-0/00000000000000000000.log
Starting offset: 0
baseOffset: {step} lastOffset: {step} count: 1 baseSequence: 0 lastSequence: 0 producerId: 7000 producerEpoch: 5 \
partitionLeaderEpoch: 0 isTransactional: true isControl: false position: 0 CreateTime: 1760000000000 size: 78 magic: 2 \
compresscodec: none crc: 1234567 isvalid: true

2026-10-09 10:00:{step:02},100 ERROR [Producer clientId=p-1, transactionalId=orders-1] Transiting to fatal error state \
due to org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same \
transactionalId which fences the current one. (org.apache.kafka.clients.producer.internals.TransactionManager)
"""


def _page(folder: Path, count: int) -> str:
    path = folder / "page.md"
    path.write_text("".join(STEP.format(step=step) for step in range(count)))
    return str(path)


def test_each_log_of_a_page_has_what_the_page_says_and_it_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, said = Mock(wraps=named_errors._named_in), Mock(wraps=statements._statements)
    monkeypatch.setattr(named_errors, "_named_in", named)
    monkeypatch.setattr(statements, "_statements", said)
    with OpenFile(_page(tmp_path, 12)) as file:
        logs = [part for part in parts(file) if part.kind is PartKind.LOG]
        told = [read_log(file, part).sources[0].statements for part in logs]
    assert len(logs) == 12
    assert len(set(told)) == 1
    assert {"one_owner", MET} <= {one.name for one in told[0]}
    assert named.call_count == 1
    assert len({call.args[0] for call in said.call_args_list}) == said.call_count > 0


def test_a_page_that_changed_is_asked_again(tmp_path: Path) -> None:
    for count in (1, 3):
        with OpenFile(_page(tmp_path, count)) as file:
            assert len(statements.statements_on_page(file)) == count


@pytest.mark.parametrize("content", [b"", b"one\ntwo\r\nend", "\ufefftw\u00f6\nlines".encode("utf-16"), b"\xff\n"])
def test_a_page_has_the_lines_of_its_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_bytes(content)
    with OpenFile(str(path)) as file:
        assert list(lines(Page(content))) == list(lines(file))
        assert page_of(file) == Page(content)


def test_what_is_too_large_is_no_page(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_bytes(b"x" * (LARGEST_PAGE + 1))
    with OpenFile(str(path)) as file:
        assert page_of(file) is None
