"""Texts that speak of errors stay quiet, whatever their shape; a failure told among words is told."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from textwrap import dedent

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.cases.quiet_texts import ERRORS, KINDS

LOGS = {
    name: text
    for log in Path(__file__).with_name("quiet_logs.txt").read_text().split("=== ")[1:]
    for name, _, text in [log.partition("\n")]
}
"""Logs in which nothing of a transaction failed: retries that went well, consumers, records, schemas, HTTP."""
SHAPES = [(kind, shape) for kind, shapes in KINDS.items() for shape in shapes]
CLASS = "org.apache.kafka.common.errors.ProducerFencedException"
WORDS = "There is a newer producer with the same transactionalId which fences the current one."
TOLD = (
    f"Since the update our writer dies with `{CLASS}: {WORDS}` every few minutes. Should we raise the timeout?",
    f"If I start a second pod, I get {CLASS}: {WORDS}",
    f"I read the docs, which say that this means two owners. There is only one.\n\n```\n{CLASS}: {WORDS}\n```\n",
    f"{CLASS}: {WORDS}",
    f"What does this mean?\n\n{CLASS}: {WORDS}\n    at org.apache.kafka.clients.producer.KafkaProducer.send(X.java:1)",
    f"```java\nproducer.beginTransaction();\nproducer.commitTransaction();\n```\n\n{CLASS}: {WORDS}",
    f"producer.beginTransaction();\nproducer.send(record);\nproducer.commitTransaction();\n}}\n{CLASS}: {WORDS}",
    f"## Bug\n\n1. start it\n2. wait an hour\n\n> {CLASS}: {WORDS}\n\nIt should go on instead.",
    f"> has anybody seen this?\n> 2026-02-03 10:11:12,100 ERROR commit failed: {CLASS}: {WORDS}\nYes, we had two pods.",
    f"Without a fixed ordinal two pods had one id and we got {CLASS}: {WORDS}",
    f"We did not remove the ordinal, and the writer still died with {CLASS}: {WORDS}",
    f"我们升级之后写入服务一直报错 {CLASS}: {WORDS}",
    f"线上环境有时出现 `{CLASS}: {WORDS}`\uff0c重启之后又正常。",
    f"如果启动第二个实例\uff0c就会遇到 {CLASS}: {WORDS}",
    f"10:11:12.041 [main] ERROR c.e.W - the writer did not go on as expected: {CLASS}: {WORDS}",
    f"reviewer: does it help? it failed again: {CLASS}: {WORDS}",
    'Traceback (most recent call last):\n  File "w.py", line 7, in run\n    producer.commit_transaction()\n'
    'cimpl.KafkaException: KafkaError{FATAL,code=_FENCED,val=-144,str="Failed to end transaction: Local: This instance '
    'has been fenced by a newer instance"}',
)


def _loud(path: Path) -> list[str]:
    try:
        found = document(diagnose([path]), "test")["findings"]
    except NothingReadableError:
        return []
    return [finding["rule"] for finding in found if finding["severity"] != "info"]


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
def test_what_speaks_of_errors_tells_none(tmp_path: Path, kind: str, shape: str) -> None:
    page = tmp_path / "page.md"
    for error in ERRORS:
        page.write_text(dedent(KINDS[kind][shape]).strip().format(**asdict(error)) + "\n")
        assert not _loud(page), page.read_text()


@pytest.mark.parametrize("name", LOGS)
def test_logs_without_a_failed_transaction_are_quiet(tmp_path: Path, name: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(LOGS[name])
    assert not _loud(page)


@pytest.mark.parametrize("text", TOLD)
def test_a_failure_among_words_is_told(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text + "\n")
    assert _loud(page)
