"""What stands where in a text: the stretches that one tool wrote, between prose, prompts and other things."""

from __future__ import annotations

from enum import StrEnum

from kafkatx.terms.records import dataclass


class PartKind(StrEnum):
    """Who wrote a stretch of text, and what it shows."""

    DUMP_LOG = "dump of a log"
    DUMP_TXNINDEX = "dump of a txnindex"
    DUMP_SNAPSHOT = "dump of a snapshot"
    DUMP_INDEX = "dump of an index"
    DUMP_TIMEINDEX = "dump of a timeindex"
    DUMP_METADATA_SNAPSHOT = "dump of a metadata snapshot"
    CONSOLE_STATES = "console consumer of __transaction_state"
    CONSOLE_OFFSETS = "console consumer of __consumer_offsets"
    CONSOLE_RECORDS = "console consumer"
    ADMIN_TRANSACTIONS = "kafka-transactions"
    ANSWER = "answer of a tool"
    LOG = "log"
    SETTINGS = "settings"
    WORDS = "words about errors"
    PROSE = "text"


@dataclass(frozen=True, slots=True)
class TextPart:
    """A stretch of a text: from byte `position` (line `line`, from 1) up to byte `end`.

    `topic`, `partition` and `base_offset` are those of the file that was dumped (None, None, -1 where the text does not
    say). `is_elided`: lines or fields were left out, so that absence in it proves nothing; `is_whole`: it has its
    header, nothing foreign stands between its lines, and its last line is complete. `named` is the path that the text
    itself names (`Dumping PATH`); `run` numbers the incidents of a page: parts of different runs contradict each other.
    `command` is the call of a tool that the text quotes above the stretch (its options tell the isolation level).
    """

    kind: PartKind
    position: int
    end: int
    line: int
    topic: str | None = None
    partition: int | None = None
    base_offset: int = -1
    is_elided: bool = False
    is_whole: bool = True
    named: str | None = None
    run: int = 0
    command: str | None = None
