"""A text of a log whose first line lost the line of the log above it, and a line that lost the exception below it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

FENCED = (
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId "
    "which fences the current one.\n"
)
FRAMES = (
    "\tat org.apache.kafka.clients.producer.KafkaProducer.commitTransaction(KafkaProducer.java:606)\n"
    "\tat a.Relay.run(Relay.java:8)\n"
)
LINES = {
    "log4j": "[2024-05-25 10:24:2{at},784] INFO Kafka version: 3.6.2 (org.apache.kafka.common.utils.AppInfoParser)\n",
    "log4j without logger": "[2024-05-25 10:24:2{at},784] INFO Kafka version: 3.6.2\n",
    "spring": "2024-05-25 10:24:2{at}.784  INFO 1 --- [main] o.a.k.c.u.AppInfoParser : Kafka version: 3.6.2\n",
    "iso": "2024-05-25T10:24:2{at}.784Z INFO [main] o.a.kafka.common.utils.AppInfoParser - Kafka version: 3.6.2\n",
}
APPEND = (
    "[2024-05-25 13:14:18,167] ERROR [ReplicaManager broker=1] Error processing append operation on partition pay-0 "
    "(kafka.server.ReplicaManager)\n"
)


def _told(folder: Path, text: str) -> list[dict]:
    path = folder / "app.log"
    path.write_text(text)
    return document(kafkatx.diagnose([path]), "1")["findings"]


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("trace", [FENCED, FENCED + FRAMES, "\n" + FENCED], ids=["alone", "frames", "blank above"])
@pytest.mark.parametrize("count", [1, 5])
def test_an_exception_whose_line_was_cut_off_is_told(line: str, trace: str, count: int, tmp_path: Path) -> None:
    (found,) = _told(tmp_path, trace + "".join(line.format(at=at) for at in range(count)))
    assert found["severity"] == "error"
    assert "PRODUCER_FENCED" in found["summary"]


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_log_that_begins_with_no_exception_is_clear(line: str, tmp_path: Path) -> None:
    for front in ("", "\n", "(org.apache.kafka.clients.producer.KafkaProducer)\n", "\tat a.Relay.run(Relay.java:8)\n"):
        assert _told(tmp_path, front + "".join(line.format(at=at) for at in range(3))) == []


@pytest.mark.parametrize(
    "rest", ["", "org.apache.kafka.common.err", "[2024-05-25 13:14:19,001] INFO all is well (a.B)\n"]
)
def test_a_refusal_that_lost_its_exception_has_a_name(rest: str, tmp_path: Path) -> None:
    (found,) = _told(tmp_path, APPEND + rest)
    assert '""' not in found["summary"] + found["title"]
    assert "a write was refused" in found["summary"]
