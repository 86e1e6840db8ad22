"""Lines of pages that show an error of a client other than Java's, what only talks about one; foreign frames."""

import pytest

from kafkatx.text.logs.foreign_frames import foreign_call
from kafkatx.text.logs.shown import shows_error
from kafkatx.text.logs.traces import read_trace

FENCED = "Local: This instance has been fenced by a newer instance"


@pytest.mark.parametrize(
    "line",
    [
        f"old pod 10:15:21 CommitTransaction: Failed to end transaction: {FENCED} fatal=true",
        f"| 12 | Error | reason='{FENCED}' code='Local_Fenced' |",
        'abort: KafkaError{code=_STATE,val=-172,str="Operation not valid in state Init"}',
        "    tx_test.go:44: begin: Local: Erroneous state (retriable=false)",
        "kafka.errors.ProducerFencedError: [Error 90] ProducerFencedError",
        "KafkaJSNonRetriableError:",
        "lost: kafka server: Producer attempted an operation with an old epoch.",
        "recon: lost: OUT_OF_ORDER_SEQUENCE_NUMBER: The broker received an out of order sequence number.",
    ],
)
def test_a_line_shows_an_error_behind_a_label(line):
    assert shows_error(line)


@pytest.mark.parametrize(
    "line",
    [
        f"Sometimes `{FENCED}` comes back from commit and we do not know why",
        f"// e.g. LibrdKafkaError: {FENCED}",
        f'require.Equal(t, kafka.ErrFenced, code, "want: {FENCED}")',
        "* `_TIMED_OUT`: call the same function again, see the manual",
        "Codes that end up here: `_FENCED`, `INVALID_TXN_STATE`.",
        "raise KafkaException(KafkaError(KafkaError._FENCED))",
        "two producers with one id: the older one must get `ProducerFenced`",
    ],
)
def test_talk_and_source_code_show_none(line):
    assert not shows_error(line)


@pytest.mark.parametrize(
    ("frame", "call"),
    [
        ("   at Confluent.Kafka.Impl.SafeKafkaHandle.CommitTransaction(Int32 timeout)", "commitTransaction"),
        ("   at Confluent.Kafka.Producer`2.InitTransactions(TimeSpan timeout)", "initTransactions"),
        ("    at Object.beginTransaction (C:\\app\\node_modules\\kafkajs\\src\\index.js:25:23)", "beginTransaction"),
        ("    at async tick (/opt/till/src/tick.js:40:34)", ""),
        ("\tat org.example.App.main(App.java:12)", None),
        ("    commitTransaction at noon (twice)", None),
    ],
)
def test_frames_of_node_and_net_name_the_call(frame, call):
    assert foreign_call(frame) == call


def test_a_trace_of_net_tells_error_and_call():
    trace = read_trace(
        (
            "batch failed",
            f"      Confluent.Kafka.KafkaException: Failed to end transaction: {FENCED}",
            "         at Confluent.Kafka.Impl.SafeKafkaHandle.CommitTransaction(Int32 timeout)",
            "         at Till.Worker.Run() in /src/Worker.cs:line 9",
        )
    )
    assert trace is not None
    assert [link.exception for link in trace.chain] == ["Confluent.Kafka.KafkaException", "_FENCED"]
    assert trace.calls == ("commitTransaction",)
