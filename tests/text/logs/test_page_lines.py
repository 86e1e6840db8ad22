"""Lines that were broken, and objects that were printed over several of them."""

import json

import pytest

from kafkatx.text.logs.page_lines import page_lines
from tests.text.pasting import numbered_lines

ERROR = "org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an old epoch."
FRAME = "\tat org.apache.kafka.clients.producer.internals.TransactionManager.beginAbort(TransactionManager.java:310)"
RETRY = (
    "2024-03-04 10:11:12,345 WARN [main] o.a.k.c.p.internals.Sender - [Producer clientId=p-1, transactionalId=t-1] "
    "Got error produce response with correlation id 17 on topic-partition pay-3, retrying (9 attempts left). "
    "Error: NETWORK_EXCEPTION"
)


def together(*texts: str) -> list[str]:
    return [line.text for line in page_lines(numbered_lines(list(texts)))]


@pytest.mark.parametrize("at", [20, 38, 51, 62, 75, 90])
def test_an_exception_broken_anywhere_is_one_line(at: int) -> None:
    assert together(ERROR[:at], ERROR[at:]) == [ERROR]


@pytest.mark.parametrize("at", [60, 85, 100])
def test_a_frame_broken_in_its_parentheses_is_one_line(at: int) -> None:
    assert together(ERROR, FRAME[:at], FRAME[at:]) == [ERROR, FRAME]


@pytest.mark.parametrize("word", range(6, len(RETRY.split()) - 1))
def test_a_line_of_a_client_broken_at_a_blank_is_one_line(word: int) -> None:
    words = RETRY.split()
    assert together(" ".join(words[:word]), " ".join(words[word:])) == [RETRY]


def test_lines_of_a_log_are_never_joined() -> None:
    lines = [RETRY, ERROR, FRAME, RETRY, "Caused by: " + ERROR]
    assert together(*lines) == lines


def test_a_printed_object_is_one_line_with_the_number_of_its_first() -> None:
    entry = {"@timestamp": "2024-03-04T10:11:12Z", "message": "failed", "stack_trace": f"{ERROR}\n{FRAME}"}
    [prose, line] = page_lines(numbered_lines(["see:", *json.dumps(entry, indent=2).split("\n")]))
    assert (prose.text, line.number) == ("see:", 2)
    assert json.loads(line.text) == entry


def test_where_a_terminal_broke_all_lines_at_one_column_words_are_whole_again() -> None:
    said = "Completed rollback of ongoing transaction for transactionalId totals-68d70a67-44a0 due to timeout"
    line = f"[2026-11-21 11:43:56,683] INFO [TransactionCoordinator id=1] {said} (kafka.coordinator.transaction.X)"
    for width in range(60, 150):
        pieces = [line[begin : begin + width] for begin in range(0, len(line), width)]
        found = [text for text in together(*pieces * 3) if "totals" in text]
        assert ["transactionalId totals-68d70a67-44a0 due" in text for text in found] == [True] * 3, width


BROKERS = (
    "[2024-05-20 08:10:08,342] ERROR [ReplicaManager broker=2] Error processing append operation on partition p-0 "
)
LOGGER = "(kafka.server.ReplicaManager)"


@pytest.mark.parametrize("front", [BROKERS, BROKERS[26:], BROKERS[32:]], ids=["whole", "level", "context"])
def test_an_exception_behind_the_logger_of_a_brokers_line_stood_below_it(front: str) -> None:
    assert together(f"{front}{LOGGER} {ERROR}") == [front + LOGGER, ERROR]


@pytest.mark.parametrize(
    "line",
    [
        f"{BROKERS}{LOGGER}",
        "the appender (org.apache.log4j.ConsoleAppender) of org.apache.kafka.common.errors is set",
        "caught (java.lang.RuntimeException) org.example.billing.Relay gave up",
    ],
)
def test_a_logger_with_no_exception_behind_it_ends_its_line(line: str) -> None:
    assert together(line) == [line]
