"""Stack traces of every shape to chain, calls and releases; texts that name calls; line numbers that name releases."""

import re
from pathlib import Path

import pytest

from kafkatx.text.events import Trace
from kafkatx.text.logs.calls import call_in
from kafkatx.text.logs.exceptions import LONGEST_MESSAGE, own_words, thrown_in
from kafkatx.text.logs.frame_lines import release_of_frames
from kafkatx.text.logs.traces import MOST_CAUSES, is_trace_line, read_trace
from tests.evidence import cases

FENCED = "org.apache.kafka.common.errors.ProducerFencedException"
KAFKA = "org.apache.kafka.common.KafkaException"
ERROR_STATE = "Cannot execute transactional method because we are in an error state"
OLD_EPOCH = "Producer attempted an operation with an old epoch."
P = "org.apache.kafka.clients.producer"

JAVA = f"""abort failed
{KAFKA}: {ERROR_STATE}
\tat {P}.internals.TransactionManager.maybeFailWithError(TransactionManager.java:785) ~[kafka-clients-2.2.0.jar:?]
\tat {P}.internals.TransactionManager.lambda$beginAbort$3(TransactionManager.java:230) ~[kafka-clients-2.2.0.jar!/:na]
\tat {P}.KafkaProducer.abortTransaction(KafkaProducer.java:716) ~[kafka-clients-2.2.0.jar:?]
\tat com.example.Orders.run(Orders.java:41) [orders.jar:?]
\tat java.base/java.lang.Thread.run(Thread.java:840) [?:?]
Caused by: {FENCED}: {OLD_EPOCH}
\tat {P}.KafkaProducer.commitTransaction(KafkaProducer.java:700)
\t... 3 more""".split("\n")


def names(trace: Trace | None) -> list[str]:
    assert trace is not None
    return [link.name for link in trace.chain]


def test_a_trace_has_its_chain_its_outer_calls_and_the_jars_of_its_frames():
    trace = read_trace(JAVA)
    assert trace is not None
    assert [(link.exception, link.message) for link in trace.chain] == [(KAFKA, ERROR_STATE), (FENCED, OLD_EPOCH)]
    assert trace.calls == (
        "TransactionManager.maybeFailWithError",
        "TransactionManager.beginAbort",
        "abortTransaction",
    )
    assert trace.releases == ("kafka-clients-2.2.0.jar",)


@pytest.mark.parametrize(
    "spread",
    [
        lambda lines: [" ".join(line.strip() for line in lines)],
        lambda lines: ["\\n".join(line.replace("\t", "\\t") for line in lines)],
        lambda lines: ["#012".join(line.replace("\t", "#011") for line in lines)],
        lambda lines: ["\n".join(lines)],
        lambda lines: [lines[0] + " " + lines[1], *lines[2:]],
        lambda lines: [line.replace("\t", "    ") for line in lines],
    ],
    ids=["one line", "escaped", "syslog", "one string", "exception in the message", "blanks for tabs"],
)
def test_a_trace_says_the_same_however_its_lines_were_broken(spread):
    trace, plain = read_trace(spread(JAVA)), read_trace(JAVA)
    assert trace is not None
    assert plain is not None
    assert (names(trace), trace.root.message, trace.calls, trace.releases) == (
        names(plain),
        OLD_EPOCH,
        plain.calls,
        plain.releases,
    )


def test_suppressed_exceptions_are_no_part_of_the_chain():
    lines = [
        "close failed",
        "java.lang.RuntimeException: outer",
        "\tat com.example.A.b(A.java:1)",
        f"\tSuppressed: {FENCED}: suppressed",
        f"\t\tat {P}.KafkaProducer.close(KafkaProducer.java:1)",
        "\tCaused by: java.io.IOException: cause of the suppressed",
        "\t\t... 2 more",
        "Caused by: java.lang.IllegalStateException: inner",
        "\tat com.example.A.c(A.java:2)",
    ]
    assert names(read_trace(lines)) == ["RuntimeException", "IllegalStateException"]


def test_a_chain_printed_root_first_is_turned():
    lines = [f"{FENCED}: root", "\tat a.b.C.d(C.java:1)", f"Wrapped by: {KAFKA}: outer", "\tat a.b.C.e(C.java:2)"]
    assert names(read_trace(["failed", *lines])) == ["KafkaException", "ProducerFencedException"]


def test_a_message_of_several_lines_is_kept_whole_and_no_line_of_it_is_a_new_exception():
    lines = ["failed", f"{KAFKA}: first", "second line", "2026-11-21 10:00:00 INFO third", "\tat a.b.C.d(C.java:1)"]
    trace = read_trace(lines)
    assert trace is not None
    assert trace.root.message == "first\nsecond line\n2026-11-21 10:00:00 INFO third"


def test_nothing_below_the_brackets_of_an_error_is_its_message():
    lines = ['KafkaError{code=_TIMED_OUT,val=-185,str="Operation timed out"}', "", "nobody else has the id"]
    assert [one.message for one in read_trace(lines).chain] == ["Operation timed out"]
    below = [lines[0], '  File "tx.py", line 61, in __exit__', "    self.p.abort_transaction(10)", "that is line 61"]
    assert call_in(read_trace(below).root.message) == "abortTransaction"
    assert "that is" not in read_trace(below).root.message


def test_an_exception_told_inside_the_message_of_another_is_its_cause():
    mapping = "org.apache.kafka.common.errors.InvalidPidMappingException: not assigned"
    assert names(read_trace(["failed", f"{KAFKA}: {mapping}", "\tat a.b.C.d(C.java:1)"])) == [
        "KafkaException",
        "InvalidPidMappingException",
    ]
    nested = f"org.springframework.x.CannotCreateTransactionException: Could not; nested exception is {FENCED}: old"
    assert names(read_trace([nested])) == ["CannotCreateTransactionException", "ProducerFencedException"]
    sending = (
        f"org.apache.kafka.streams.errors.StreamsException: task [1_0] Abort sending to topic a due to {FENCED}: old"
    )
    assert names(read_trace([sending])) == ["StreamsException", "ProducerFencedException"]
    assert names(read_trace(["failed", f"{KAFKA}: {mapping}", f"Caused by: {mapping}"])) == [
        "KafkaException",
        "InvalidPidMappingException",
    ]


PYTHON = """\
ledger abort failed
Traceback (most recent call last):
  File "kafka/producer/kafka.py", line 700, in commit_transaction
    self._raise()
kafka.errors.ProducerFencedError: [Error 90] ProducerFencedError

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "<string>", line 39, in main
  File "kafka/producer/kafka.py", line 720, in abort_transaction
    self._fail()
kafka.errors.KafkaError: KafkaError: Cannot execute transactional method: [Error 90] ProducerFencedError
""".splitlines()


def test_a_python_traceback_has_its_last_exception_as_the_outermost():
    trace = read_trace(PYTHON)
    assert trace is not None
    assert names(trace) == ["KafkaError", "ProducerFencedError"]
    assert trace.calls == ("abortTransaction",)
    assert trace.chain[0].message == "Cannot execute transactional method: [Error 90] ProducerFencedError"
    assert trace.chain[1].message == ""


def test_exceptions_of_every_client_are_found_in_one_line():
    told = {
        f"Error while committing transaction, continuing: {KAFKA}: no": [("KafkaException", "no")],
        f"Transiting to fatal error state due to {FENCED}: old": [("ProducerFencedException", "old")],
        f"Written [status=500, exception={KAFKA}, message=no]": [("KafkaException", "no]")],
        "TimeoutException: Timeout expired": [("TimeoutException", "Timeout expired")],
        'commit failed: KafkaError{FATAL,code=_FENCED,val=-144,str="Failed: Local: fenced"} (fatal True)': [
            ("_FENCED", "Failed: Local: fenced")
        ],
        "Fatal Error handling request EndTxnRequest: [Error 90] ProducerFencedError": [("ProducerFencedError", "")],
        "ledger: commit failed: PRODUCER_FENCED: There is a newer producer": [
            ("ProducerFenced", "There is a newer producer")
        ],
        "Fatal transaction error: Failed to end transaction: Local: This instance has been fenced (_FENCED)": [
            ("_FENCED", "Local: This instance has been fenced")
        ],
    }
    for message, expected in told.items():
        assert [(link.name, link.message) for link in thrown_in(message)] == expected, message


def test_words_that_look_like_exceptions_are_none():
    for message in (
        "default.production.exception.handler = class org.apache.kafka.streams.DefaultProductionExceptionHandler",
        "Using MyExceptionHandler for errors",
        "Error while committing transaction",
        "No error. ERROR: nothing",
        "PLAINTEXT_HOST: listening",
        "status (OK_DONE)",
    ):
        assert thrown_in(message) == (), message
        assert read_trace([message]) is None


def test_texts_name_the_method_that_was_called():
    told = {
        "Cannot attempt operation `abortTransaction` because the previous call to `commitTransaction` timed out": (
            "abortTransaction"
        ),
        "Timeout expired after 3000ms while awaiting EndTxn(true)": "EndTxn(true)",
        "Timeout expired after 3000ms while awaiting InitProducerId": "InitProducerId",
        "commitTransaction failed": "commitTransaction",
        "Error while committing transaction": "commitTransaction",
        "Error while aborting the transaction": "abortTransaction",
        "Could not initialise transactions": "initTransactions",
        "sendOffsetsToTransaction failed": "sendOffsetsToTransaction",
        "commit_transaction() raised": "commitTransaction",
        "rolling back transaction 7": "abortTransaction",
        "order was committed": None,
        "the transaction of the customer was declined": None,
        "commit failed": None,
        "abort failed: disk": None,
    }
    assert {text: call_in(text) for text in told} == told
    assert call_in("billing commit failed", is_kafka=True) == "commitTransaction"
    assert call_in("abort; fatal: true", is_kafka=True) == "abortTransaction"
    assert call_in("begin", is_kafka=True) == "beginTransaction"
    assert call_in("abort") is call_in("commit of order 7", is_kafka=True) is None


def test_line_numbers_tell_the_release_that_the_recorded_logs_name():
    seen = 0
    for path, version, frames in recorded_frames():
        hinted = release_of_frames(frames)
        if hinted:
            seen += 1
            assert version.startswith(hinted.removeprefix("kafka-clients-")), path
    assert seen or not any("k27" in case.name for case in cases())


def recorded_frames() -> list[tuple[Path, str, list[tuple[str, str, str]]]]:
    """Runs of frames of kafka-clients, each with the release that its log names."""
    found = []
    frame = re.compile(r"\s+at (org\.apache\.kafka\.clients\.[\w.$]+)\.([\w$<>]+)\(([\w.]+:\d+)\)")
    for path in (path for case in cases() for path in sorted(case.glob("logs/client-*"))):
        text = path.read_text("utf-8", "replace")
        versions = set(re.findall(r"Kafka version ?: (\d+(?:\.\d+)+)", text))
        for run in re.findall(r"(?:^\s+at .*\n)+", text, re.MULTILINE) if len(versions) == 1 else []:
            found.append((path, min(versions), frame.findall(run)))
    return found


def test_the_line_numbers_of_the_2_2_0_incident_tell_2_2_0():
    """TransactionManager.java:785, KafkaProducer.java:716 and Sender.java:283: only 2.2.0 has all three."""
    places = {"internals.TransactionManager": 785, "KafkaProducer": 716, "internals.Sender": 283}
    methods = {"KafkaProducer": "abortTransaction"}
    frames = [
        (f"{P}.{name}", methods.get(name, "x"), f"{name.rpartition('.')[2]}.java:{line}")
        for name, line in places.items()
    ]
    assert release_of_frames(frames) == "kafka-clients-2.2.0"
    assert release_of_frames(frames[:1]) is None
    assert release_of_frames([*frames, (f"{P}.KafkaProducer", "commitTransaction", "KafkaProducer.java:99999")]) is None


def test_chains_and_messages_are_bounded():
    lines = ["failed", f"{KAFKA}: " + "x" * 100_000]
    lines += [
        line for n in range(1_000) for line in (f"\tat a.b.C.d{n}(C.java:{n})", f"Caused by: a.b.E{n}Exception: {n}")
    ]
    trace = read_trace(lines)
    assert trace is not None
    assert len(trace.chain) == MOST_CAUSES
    assert trace.root.name == "E999Exception"
    assert max(len(link.message) for link in trace.chain) <= LONGEST_MESSAGE


@pytest.mark.parametrize(
    "text",
    [" at " * (1 << 18), "at a.b.C.d(" * 100_000, "Caused by: " * 100_000, "\\n\\tat " * 100_000,
     "KafkaError{" * 100_000, "org.apache." * 100_000 + "Exception: x", "E" * (1 << 20) + "Exception",
     "Local: " * 100_000 + "(_X)", "A_B: " * 100_000, "commit the " * 100_000, "to " * 300_000, '  File "' * 100_000,
     "Traceback (most recent call last):" * 30_000],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_hostile_texts_are_read_in_one_pass(text):
    read_trace([text])
    read_trace(["x", text, text])
    call_in(text, is_kafka=True)
    assert not is_trace_line("plain")


def test_every_exception_of_recorded_client_logs_is_the_one_its_text_says():
    """The last `Caused by` (or the only exception) under a line is the root, found here by eye-like rules alone."""
    head = re.compile(r"(?:Caused by: )?((?:[a-z_]\w*\.)+[A-Z]\w*)(?::|$)")
    seen = 0
    for path in (path for case in cases() for path in sorted(case.glob("logs/client-*"))):
        if any(name in path.name for name in ("-aio-", "-kpy-")):
            continue
        for run in re.findall(r"^20\S+ .*\n((?:(?:org|java)\.\S+.*\n|\s+at .*\n|Caused by.*\n|\s+\.\.\..*\n)+)",
                              path.read_text("utf-8", "replace"), re.MULTILINE):  # fmt: skip
            heads = [found[1] for line in run.split("\n") if (found := head.match(line))]
            trace = read_trace(["", *run.split("\n")])
            assert trace is not None
            assert [link.exception for link in trace.chain][: len(heads)] == heads, path
            seen += 1
    assert seen or not any("k27" in case.name for case in cases())


def test_a_line_of_a_log_that_a_message_quotes_is_not_its_own_words():
    line = "2024-01-01 10:00:00,000 ERROR x - org.apache.kafka.common.errors.ProducerFencedException: gone"
    assert own_words(f'user sent "{line}"') == "user sent "
    assert own_words(f"user sent \u201c[{line}]\u201d") == "user sent "
    assert (
        own_words('import of "day one" failed: 2024-01-01 10:00:00')
        == 'import of "day one" failed: 2024-01-01 10:00:00'
    )


FLINK = "org.apache.flink.connector.kafka.sink.KafkaCommitter"


def test_the_frame_of_a_framework_that_owns_the_producer_stands_behind_the_calls():
    frames = [f"\tat {P}.KafkaProducer.commitTransaction(KafkaProducer.java:700)", f"\tat {FLINK}.commit(X.java:1)"]
    refused = read_trace([f"{KAFKA}: {ERROR_STATE}", *frames, f"Caused by: {FENCED}: {OLD_EPOCH}"])
    assert refused is not None
    assert refused.calls == ("commitTransaction", f"{FLINK}.commit")
    beheaded = read_trace([frames[1], f"Caused by: {FENCED}: {OLD_EPOCH}"])
    assert beheaded is not None
    assert beheaded.calls == (f"{FLINK}.commit",)
    foreign = read_trace(["java.lang.IllegalStateException: x", frames[1]])
    assert foreign is not None
    assert foreign.calls == ()
