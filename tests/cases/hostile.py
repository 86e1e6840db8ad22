"""Text that wants to be taken for evidence, to act on a terminal, or to cost time; and the places where it is put."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

STAMP = "2026-11-21 10:29:51.000"
"""Stands for the time of the place that text is put at."""
WORN_ID = "payments-eu-1"
"""A transactional.id of the case k39-timeout."""
ACTING_ID = "p\x1b]0;X\x07\u202eu-1"
"""As many bytes, so that the sizes that a dump declares still hold: sets a title, turns the writing round."""

FORGED_LOG = (
    f"[{STAMP}] INFO [TransactionCoordinator id=1] Completed rollback of ongoing transaction for transactionalId "
    "victim-1 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)",
    f"[{STAMP}] INFO [TransactionCoordinator id=1] Initialized transactionalId victim-1 with producerId 4 and "
    "producer epoch 9 on partition __transaction_state-0 (kafka.coordinator.transaction.TransactionCoordinator)",
    f"{STAMP} [main] INFO  org.apache.kafka.clients.producer.internals.TransactionManager - [Producer "
    "clientId=v, transactionalId=victim-1] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer",
)
FORGED_DUMP = (
    "Dumping /var/lib/kafka/data/payments-0/00000000000000000000.log",
    "baseOffset: 1 lastOffset: 1 count: 1 baseSequence: 0 lastSequence: 0 producerId: 1 producerEpoch: 5 "
    "partitionLeaderEpoch: 0 isTransactional: true isControl: true deleteHorizonMs: OptionalLong.empty position: 1 "
    "CreateTime: 1795256984970 size: 78 magic: 2 compresscodec: none crc: 1 isvalid: true",
    "| offset: 1 CreateTime: 1795256984970 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] "
    "endTxnMarker: ABORT coordinatorEpoch: 0",
    "victim-1::TransactionMetadata(transactionalId=victim-1, producerId=4, producerEpoch=1, txnTimeoutMs=60000, "
    "state=PrepareAbort, pendingState=None, topicPartitions=Set(payments-0), txnStartTimestamp=1, "
    "txnLastUpdateTimestamp=2)",
    "ProducerConfig values: ",
    "\ttransaction.timeout.ms = 1",
)
FORGED = (*FORGED_LOG, *FORGED_DUMP)

ACTING = (
    "\x1b]0;owned\x07\x1b[2J\x1b[1;31m\x1b[?1049h", "\x1b]8;;http://example.com\x1b\\press\x1b]8;;\x1b\\",
    "\x1bP+q544e\x1b\\\x9b31m\x9d0;x\x9c", "\u202egnp.exe\u2066\u2069\u200f\ufeff", "\x00\x01\x02\x08\x0b\x0c\x7f",
    "<script>alert(1)</script><img src=x onerror=alert(1)>&lt;b&gt;", "\u2028\u2029\x85", "\ud800".encode(
        "utf-8", "surrogatepass").decode("latin-1"),
)  # fmt: skip
"""Characters that act on a terminal, in a browser, or on who reads."""
NO_UTF8 = b"\xff\xfe\xc0\x80\xf5\x80\x80\x80 \xed\xa0\x80 \xe2\x82"


def bombs(size: int) -> dict[str, str]:
    """Texts of about `size` characters on which a careless pattern takes more than linear time."""
    return {
        "brackets": "[" * size,
        "closed brackets": "[]" * (size // 2),
        "blanks": f"{STAMP} INFO {' ' * size}x",
        "frames": "\tat a.b(" * (size // 8),
        "causes": "Caused by: " * (size // 11),
        "colons": ": " * (size // 2),
        "classes": f"java.lang.{'a.' * (size // 2)}Exception",
        "fields": "offset: 1 producerId: 1 " * (size // 24),
        "elisions": "offset: 1 " + "... " * (size // 4),
        "json": '{"message":' * (size // 11),
        "strings": '{"message":"' + "\\\\" * (size // 2),
        "contexts": "[Producer clientId=" * (size // 19),
        "quotes": "> | * // " * (size // 9),
        "states": "a::TransactionMetadata(transactionalId=" * (size // 39),
        "errors": "com.example.BadException: " * (size // 26),
        "settings": f"ProducerConfig values: {'a=' * (size // 2)}",
        "partitions": f"Expiring 1 record(s) for {'a-1' * (size // 3)}:120000 ms has passed since batch creation",
        "digits": f"[{'1' * size}] INFO x",
        "letters": "a" * size,
    }


def copied(case: Path, folder: Path) -> Path:
    """Copy everything textual of a case: what the dump tool printed, logs, settings."""
    for name in ("kafka-dump-log", "logs", "config"):
        if (case / name).is_dir():
            shutil.copytree(case / name, folder / name)
    return folder


def logs_of(folder: Path) -> Iterator[Path]:
    """The logs of a copied case."""
    yield from sorted((folder / "logs").rglob("*.log"))


def between_entries(folder: Path, noise: bytes) -> None:
    """Put lines between two entries in the middle of every log, and behind the last one, with the times there."""
    for path in logs_of(folder):
        lines = path.read_bytes().splitlines(keepends=True)
        begins = {number: found[1] for number, line in enumerate(lines) if (found := _TIME.match(line))}
        at = sorted(begins)[len(begins) // 2]
        here, last = (noise.replace(STAMP.encode(), time) for time in (begins[at], begins[max(begins)]))
        path.write_bytes(b"".join([*lines[:at], here, b"\n", *lines[at:], last, b"\n"]))


_TIME = re.compile(rb"\[?(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{3})")


def quoted(folder: Path) -> None:
    """An application quotes what its users sent: forged lines in messages, each in one line."""
    lines = [f'{STAMP} [http-1] INFO  com.example.App - user sent "{text}"' for text in FORGED]
    between_entries(folder, "\n".join(lines).encode())


def in_traces(folder: Path) -> None:
    """Forged lines as texts, frames and causes of an application's own exception."""
    lines = [f"{STAMP} [http-1] INFO  com.example.App - no number"]
    lines += [f"java.lang.NumberFormatException: {FORGED[0]}", f"\tat com.example.Parser.parse({FORGED[1]})"]
    lines += [f"\t{text.lstrip()}" for text in FORGED_LOG]
    lines += [f"Caused by: com.example.BadInput: {text}" for text in FORGED_LOG[:2]] + ["\t... 12 more"]
    between_entries(folder, "\n".join(lines).encode())


def in_json(folder: Path) -> None:
    """A log of JSON lines of another application, which quotes forged lines in its strings."""
    entries = [
        {"@timestamp": f"{STAMP.replace(' ', 'T')}Z", "level": "INFO", "logger_name": "com.example.App",
         "message": f"user sent:\n{text}\n{text}", "body": {"text": text}}
        for text in FORGED
    ]  # fmt: skip
    (folder / "logs" / "app.json.log").write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def in_settings(folder: Path) -> None:
    """Forged lines as values of settings that say nothing about transactions."""
    for path in sorted((folder / "config").rglob("*.properties")):
        values = [f"x.text.{number}={text.strip()}\n" for number, text in enumerate(FORGED)]
        path.write_text(path.read_text() + "".join(values))


def in_payloads(folder: Path) -> None:
    """Forged lines as values of the records of data topics, one behind the other on lines of their own."""
    record = re.compile(r"(?m)^(\| offset: \d+ .* valueSize: )\d+( .* payload: )(\{.*)$")
    text = "\n".join(["x", *FORGED, "y"])
    for path in sorted((folder / "kafka-dump-log").rglob("*.log.txt")):
        if not path.parent.name.startswith("__"):
            forged = record.sub(lambda found: f"{found[1]}{len(text.encode())}{found[2]}{text}", path.read_text())
            path.write_text(forged)


def acting(folder: Path) -> None:
    """What acts on a terminal, and bytes that are no text."""
    between_entries(folder, b"\n".join([*(text.encode() for text in ACTING), NO_UTF8, b"\x00" * 4096]))


def endless(folder: Path) -> None:
    """Lines of half a megabyte, with and without anything in them."""
    long = [b"x" * 500_000, f"{STAMP} INFO {'y ' * 250_000}(com.example.App)".encode()]
    between_entries(folder, b"\n".join(long))


def exploding(folder: Path) -> None:
    """Lines that take careless patterns long; those of exceptions could be the rest of the trace above them."""
    between_entries(folder, "\n".join(text for kind, text in bombs(20_000).items() if kind != "errors").encode())


HOSTILE: dict[str, Callable[[Path], None]] = {
    "quoted": quoted, "in traces": in_traces, "in json": in_json, "in settings": in_settings,
    "in payloads": in_payloads, "acting": acting, "endless": endless, "exploding": exploding,
}  # fmt: skip
"""What can be done to a copied case that says nothing about it."""
