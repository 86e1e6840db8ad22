"""Messages that programs around the Java client, and brokers, can print, each as that program prints it.

Tables   tests/rules/said/*.tsv: since which release, form (a level of a log, or `thrown`), who says it (a class of
         exceptions, or a logger; `o.a.k.` stands for Kafka's package), the words, and what must be told of them: rules
         of which one is a finding or one of the first two candidates, `failure` where words alone name no cause,
         `quiet` where nothing failed. In the words ` ~ ` stands for a new
         line, ` <- ` for one that begins with `Caused by: `.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkatx import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError

FOLDER = Path(__file__).with_name("said")
TIME = "2026-11-21 10:00:00,000"
PACKAGES = {
    "o.a.k.": "org.apache.kafka.", "o.s.k.": "org.springframework.kafka.", "o.a.f.": "org.apache.flink.",
    "k.c.t.": "kafka.coordinator.transaction.",
}  # fmt: skip
BROKERS = ("kafka.", "org.apache.kafka.server.", "org.apache.kafka.storage.", "org.apache.kafka.controller.",
           "org.apache.kafka.coordinator.")  # fmt: skip
THROWN = (
    "{time} ERROR [main] com.example.App - Processing failed\n{exception}\n\tat com.example.App.run(App.java:41)\n",
    'Exception in thread "main" {exception}\n\tat com.example.App.main(App.java:41)\n',
    "{time} ERROR 1 --- [orders-0-C-1] com.example.Orders : could not handle\n"
    "java.lang.RuntimeException: could not handle\n\tat com.example.Orders.handle(Orders.java:52)\n"
    "Caused by: {exception}\n\t... 12 more\n",
)
"""How applications print what they were thrown."""
REFUSED = (
    "[{time}] ERROR [ReplicaManager broker=1] Error processing append operation on partition orders-3 "
    "(kafka.server.ReplicaManager)\n{exception}\n"
)
"""How a leader prints why it took no batch."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message and what must be told of it."""

    program: str
    since: str
    form: str
    by: str
    words: str
    told: tuple[str, ...]
    number: int

    def text(self) -> str:
        """The message as its program prints it."""
        by = _in_full(self.by)
        words = "\nCaused by: ".join(map(_in_full, self.words.replace(" ~ ", "\n").split(" <- ")))
        if self.form == "thrown":
            return THROWN[self.number % len(THROWN)].format(time=TIME, exception=f"{by}: {words}")
        if self.form == "refused":
            return REFUSED.format(time=TIME, exception=f"{by}: {words}")
        if self.program == "redpanda":
            return f"{self.form:5} {TIME} [shard 0:main] tx - {by}:412 - {words}\n"
        if by.startswith(BROKERS):
            first, *under = words.split("\n")
            return "\n".join((f"[{TIME}] {self.form} {first} ({by})", *under, ""))
        front = "[Producer clientId=producer-1, transactionalId=orders-1] " if ".clients.producer." in by else ""
        return f"{TIME} {self.form:5} [main] {by} - {front}{words}\n"


def said() -> Iterator[Said]:
    """Every message of the tables."""
    for path in sorted(FOLDER.glob("*.tsv")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()[1:]):
            since, form, by, words, told = line.split("\t")
            yield Said(path.stem, since, form, by, words, tuple(told.split("|")), number)


def short_of(one: Said, folder: Path) -> str | None:
    """What is wrong about what is told of a message, None if it is right."""
    page = folder / "page.md"
    page.write_text(one.text())
    try:
        told = document(diagnose([page]), "now")
    except NothingReadableError:
        told = {"findings": []}
    findings = told["findings"]
    loud = sorted({finding["rule"] for finding in findings if finding["severity"] != "info"})
    if "quiet" in one.told and not loud:
        return None
    if one.told == ("quiet",):
        return f"told of {loud}"
    if not findings:
        return "nothing is told"
    named = {finding["rule"] for finding in findings}
    named |= {candidate["rule"] for finding in findings for candidate in finding["candidates"][:2]}
    return None if "failure" in one.told or named & set(one.told) else f"named {sorted(named)}"


def _in_full(name: str) -> str:
    return next((full + name[len(short) :] for short, full in PACKAGES.items() if name.startswith(short)), name)
