"""What is asked of a living cluster, and what is read instead where its brokers are too old to answer.

Brokers  describe-producers needs DescribeProducers (2.8); list, describe and find-hanging need ListTransactions and
         DescribeTransactions (3.0). The tool itself came with 3.0; what it asks of a newer broker only is not said of
         an older one. kafka-dump-log.sh reads the files of every release.
Texts    a call stands in commands and, by the tool's name and the word behind it, in sentences.
Source   DescribeProducersRequest.json (2.8.0), ListTransactionsRequest.json, DescribeTransactionsRequest.json and
         bin/kafka-transactions.sh (3.0.0); TransactionsCommand (3.0.0: `Brokers on versions older than 3.0`);
         DumpLogSegments (--transaction-log-decoder: 0.11.0).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from kafkatx.terms.catalogue.releases import Release, Span
from kafkatx.terms.regex import regex
from kafkatx.words.explained import Considered, Remedy

ANSWERED_SINCE = {"describe-producers": "2.8", "list": "3.0", "describe": "3.0", "find-hanging": "3.0"}
"""What kafka-transactions.sh asks, and the first brokers that answer it."""
TOOL_SINCE = "3.0"
_CALL = r"kafka-transactions\.sh(?: --bootstrap-server \S+)? (?P<asks>describe-producers|find-hanging|list|describe)\b"
_COMMAND = regex(_CALL)
_SAID = (
    (regex(r"kafka-transactions\.sh (?:list and )?describe of (\S+?)(?=[,.)]|$)", re.MULTILINE), "describe",
     r"the records of \1 in __transaction_state (kafka-dump-log.sh)"),
    (regex(r"kafka-transactions\.sh list and describe\b(?! of)"), "describe",
     "kafka-dump-log.sh on __transaction_state"),
    (regex(r"kafka-transactions\.sh (?:list|describe)\b(?!-)"), "describe",
     "kafka-dump-log.sh on __transaction_state"),
    (regex(r"kafka-transactions\.sh describe-producers for\b"), "describe-producers",
     "kafka-dump-log.sh on the leader's log of"),
    (regex(r"kafka-transactions\.sh describe-producers\b"), "describe-producers",
     "kafka-dump-log.sh on the leader's log"),
    (regex(r"kafka-transactions\.sh find-hanging lists\b"), "find-hanging",
     "dumps of the partition and of __transaction_state (kafka-dump-log.sh) show as open and forgotten"),
    (regex(r"kafka-transactions\.sh find-hanging\b"), "find-hanging",
     "kafka-dump-log.sh on its log and on __transaction_state"),
)  # fmt: skip
"""How sentences name a call, what it asks, and what is said where brokers can't answer."""
_PLACE, _ID = regex(r"--topic (\S+) --partition (\S+)"), regex(r"--transactional-id (.+)")
_OLD_TOOL = "kafka-transactions.sh came with Kafka 3.0: run it from a 3.x download"


def answers(asks: str, release: tuple[int, ...]) -> bool:
    """Whether brokers of a release answer what kafka-transactions.sh asks; brokers of an unknown one (empty) may."""
    since = ANSWERED_SINCE.get(asks)
    return not release or since is None or Span(since).holds(Release(release))


def sentence_for(text: str, release: tuple[int, ...]) -> str:
    """Name what is read instead of what brokers of this release do not answer."""
    for pattern, asks, instead in _SAID:
        if not answers(asks, release):
            text = pattern.sub(instead, text)
    return text


def considered_for(other: Considered, release: tuple[int, ...]) -> Considered:
    """Let what would decide an explanation be at hand on brokers of this release."""
    return replace(other, decided_by=sentence_for(other.decided_by, release)) if other.decided_by else other


def remedy_for(remedy: Remedy, release: tuple[int, ...], state_partition: Callable[[str], int]) -> Remedy:
    """Advise what works on brokers of this release; `state_partition` gives an id's one of __transaction_state."""
    text = sentence_for(remedy.text, release)
    call = _COMMAND.search(remedy.command or "")
    if call is not None and not answers(call["asks"], release):
        asks = call["asks"]
        why = f"Brokers before {ANSWERED_SINCE[asks]} can't be asked for it: {_instead(asks)}"
        command = _dump(remedy.command or "", state_partition)
        return replace(remedy, text=f"{text}. {why}", command=command)
    is_old = bool(release) and not Span(TOOL_SINCE).holds(Release(release))
    if is_old and "kafka-transactions.sh" in f"{text} {remedy.command}":
        text = f"{text}. {_OLD_TOOL}"
    return replace(remedy, text=text)


def _instead(asks: str) -> str:
    if asks == "describe-producers":
        return "a producer's batches behind its last marker are open"
    return "the last record of an id in __transaction_state has its state and partitions"


def _dump(command: str, state_partition: Callable[[str], int]) -> str:
    """The dump that tells what a call asks for."""
    if place := _PLACE.search(command):
        return f"kafka-dump-log.sh --deep-iteration --files LOG_DIR/{place[1]}-{place[2]}/SEGMENT.log"
    name = _ID.search(command)
    partition = "PARTITION" if name is None else state_partition(name[1])
    return f"kafka-dump-log.sh --transaction-log-decoder --files LOG_DIR/__transaction_state-{partition}/SEGMENT.log"
