"""Texts that kafka-dump-log printed of recorded files, and what in them is misprinted (misprints.tsv)."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.evidence import cases, expectations

SPECIAL = {
    "__transaction_state": "--transaction-log-decoder",
    "__consumer_offsets": "--offsets-decoder",
    "__cluster_metadata": "--cluster-metadata-decoder",
    "__share_group_state": "--share-group-state-decoder",
}
"""Decoders that the texts were written with; all logs also with --deep-iteration, others with --print-data-log."""

DATA_ROOT = "/var/lib/kafka/data"
"""What the texts call the folder of the data."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One text: the case, the release of the tool, the file it is of, and whether records were not asked for."""

    case: str
    version: tuple[int, ...]
    file: Path
    text_file: Path
    is_shallow: bool

    @property
    def topic(self) -> str:
        return self.file.parent.name.rpartition("-")[0]

    @property
    def name(self) -> str:
        """Broker, partition and file."""
        return "/".join(self.file.parts[-3:])

    def text(self) -> str:
        return self.text_file.read_bytes().decode()

    def options(self) -> list[str]:
        """Options that the text was written with."""
        if self.is_shallow or self.file.suffix != ".log":
            return []
        return ["--deep-iteration", SPECIAL.get(self.topic, "--print-data-log")]

    def __str__(self) -> str:
        return f"{self.case} {self.name}{' shallow' if self.is_shallow else ''}"


def recorded(*suffixes: str) -> Iterator[Recorded]:
    """Yield the texts of files with one of these suffixes whose file is there, too."""
    for case in cases():
        version = tuple(map(int, str(expectations(case)["kafka"]).split(".")))
        for folder in ("kafka-dump-log", "kafka-dump-log-shallow"):
            for text in sorted((case / folder).rglob("*.txt")):
                file = case / text.relative_to(case / folder).with_suffix("")
                if file.suffix in suffixes and file.exists():
                    yield Recorded(case.name, version, file, text, folder.endswith("shallow"))


def made() -> Iterator[Recorded]:
    """Yield the texts of made files (make.py): what the tool of 4.3.1 printed of them."""
    folder = Path(__file__).parent / "golden"
    for text in sorted(folder.rglob("*.txt")):
        yield Recorded("made", (4, 3, 1), text.with_suffix(""), text, False)


@dataclass(frozen=True, slots=True)
class Misprint:
    """Lines that the tool should not have printed as it did.

    `effect`: `drop`, the line is not compared; `end`, the text breaks off in this line, nothing behind it is compared.
    """

    case: str
    file: str
    line: str
    version: str
    effect: str
    reason: str

    def concerns(self, text: Recorded) -> bool:
        release = ".".join(map(str, text.version))
        return all(
            fnmatchcase(name, pattern)
            for name, pattern in ((text.case, self.case), (text.name, self.file), (release, self.version))
        )

    def matches(self, line: str) -> bool:
        return re.search(self.line, line) is not None


def misprints() -> list[Misprint]:
    """Return the rows of misprints.tsv."""
    with (Path(__file__).parent / "misprints.tsv").open(encoding="utf-8") as file:
        return [Misprint(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends; only a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def without_misprints(text: Recorded, used: set[Misprint]) -> tuple[list[str], bool]:
    """Return the lines of a text that are to be compared, and whether it breaks off; what applied goes into `used`."""
    rows = [row for row in MISPRINTS if row.concerns(text)]
    kept = []
    for line in lines_of(text.text()):
        found = [row for row in rows if row.matches(line)]
        used.update(found)
        if any(row.effect == "end" for row in found):
            return kept, True
        if not found:
            kept.append(line)
    return kept, False


MISPRINTS = misprints()
