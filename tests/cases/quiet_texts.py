"""Texts in which nothing failed, of every shape in which people speak of errors: a shape and an error make a text.

A shape is a template over an error: `{cls}` its class in Java, `{const}` its constant, `{msg}` its words, `{lib}` what
librdkafka prints, `{go}` what sarama or franz-go prints, `{js}` KafkaJS's class.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpokenError:
    """An error as the languages name it."""

    cls: str
    const: str
    msg: str
    lib: str
    go: str
    js: str


PACKAGE = "org.apache.kafka.common.errors."
ERRORS = (
    SpokenError(
        "ProducerFencedException",
        "PRODUCER_FENCED",
        "There is a newer producer with the same transactionalId which fences the current one.",
        "Broker: There is a newer producer with the same transactionalId which fences the current one",
        "PRODUCER_FENCED: There is a newer producer with the same transactionalId which fences the current one.",
        "KafkaJSProtocolError",
    ),
    SpokenError(
        "InvalidProducerEpochException",
        "INVALID_PRODUCER_EPOCH",
        "Producer attempted to produce with an old epoch.",
        "Broker: Producer attempted an operation with an old epoch",
        "kafka server: Producer attempted an operation with an old epoch",
        "KafkaJSProtocolError",
    ),
    SpokenError(
        "OutOfOrderSequenceException",
        "OUT_OF_ORDER_SEQUENCE_NUMBER",
        "The broker received an out of order sequence number.",
        "Broker: Broker received an out of order sequence number",
        "kafka server: The broker received an out of order sequence number",
        "KafkaJSProtocolError",
    ),
    SpokenError(
        "InvalidPidMappingException",
        "INVALID_PRODUCER_ID_MAPPING",
        "The producer attempted to use a producer id which is not currently assigned to its transactional id.",
        "Broker: Producer attempted to use a producer id which is not currently assigned to its transactional id",
        "kafka server: The producer attempted to use a producer id which is not currently assigned to its "
        "transactional id",
        "KafkaJSProtocolError",
    ),
    SpokenError(
        "TimeoutException",
        "REQUEST_TIMED_OUT",
        "Timeout expired after 60000ms while awaiting InitProducerId",
        "Local: Timed out",
        "kafka: client has run out of available brokers to talk to",
        "KafkaJSRequestTimeoutError",
    ),
    SpokenError(
        "TransactionalIdAuthorizationException",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        "Transactional Id authorization failed.",
        "Broker: Transactional Id authorization failed",
        "kafka server: Transactional ID authorization failed",
        "KafkaJSProtocolError",
    ),
)

PROSE = {
    "a question what an error would mean": """
        What exactly does `{cls}` mean, and when is it thrown? The javadoc says "{msg}" but not who decides that.
    """,
    "a question about what may happen": """
        Suppose two copies of a service share one transactional id. Would the older one get {cls}: {msg}
        Or does the broker answer {const} first? I have not tried it yet.
    """,
    "an answer that explains": """
        {const} is what the coordinator answers once a newer epoch is known. The Java client maps it to {cls}
        ("{msg}"), librdkafka shows it as "{lib}" and Go clients print {go}.
        None of them can go on after it; you have to close the producer.
    """,
    "a design note": """
        # Design: exactly-once for the billing writer

        * Each pod owns one transactional id, derived from the ordinal of its stateful set.
        * On `{cls}` the writer shall close its producer and exit, since somebody else owns the id.
        * On abortable errors it shall call abortTransaction() and read again from the last committed offset.
        * Open: should `{const}` be counted as an alert? Proposal: yes, if more than 3 in 10 minutes.
    """,
    "a runbook": """
        ## Alert TransactionErrors

        If you see `{cls}: {msg}` in the logs of the writer:

        1. Check whether two pods have the same ordinal.
        2. Compare the transaction timeout with the time of a batch.
        3. If neither holds, escalate to the streaming team.

        If you see `{const}` in the logs of a broker, do nothing: the client will be told.
    """,
    "a glossary": """
        **{cls}**
        : {msg}

        **CommitFailedException**
        : The group has already rebalanced.
    """,
    "an asciidoc glossary": """
        `{cls}`:: {msg} The application has to close its producer.
        `CommitFailedException`:: The group has rebalanced and the offsets went to another member.
    """,
    "a list of errors": """
        The producer can come back with these:

        - `{cls}` - {msg}
        - `RecordTooLargeException` - the record is larger than max.request.size
        - `InterruptException` - the thread was interrupted
    """,
    "a list with constants": """
        Errors that are fatal to a transactional producer:
          * {const} ({msg})
          * UNSUPPORTED_VERSION (The version of API is not supported.)
          * CLUSTER_AUTHORIZATION_FAILED (Cluster authorization failed.)
    """,
    "a table": """
        | Error | Code | Retriable | Meaning |
        |---|---|---|---|
        | {const} | 90 | no | {msg} |
        | NOT_COORDINATOR | 16 | yes | This is not the correct coordinator. |
    """,
    "a table of clients": """
        Client | what it shows
        --- | ---
        Java | `{cls}: {msg}`
        librdkafka | `{lib}`
        Go | `{go}`
    """,
    "an HTML table": """
        <table><tr><th>Error</th><th>Description</th></tr>
        <tr><td>{const}</td><td>{msg}</td></tr>
        <tr><td>NOT_COORDINATOR</td><td>This is not the correct coordinator.</td></tr></table>
    """,
    "columns of blanks": """
        NAME                                   CODE  RETRIABLE  DESCRIPTION
        {const:<38} 90    false      {msg}
        NOT_COORDINATOR                        16    true       This is not the correct coordinator.
    """,
    "a page of questions": """
        ### Why would I get a {cls}?
        Because another producer with your transactional.id has called initTransactions() after you did. The message
        is "{msg}".
        ### Can I retry after it?
        No. Close the producer and create a new one.
    """,
    "a mail that agrees": """
        > should we treat {cls}: {msg}
        > as fatal?

        Yes, I think so. The client can't recover from it, so catching it only to log it would be wrong.
    """,
    "a vote": """
        +1 (binding). I like that KIP-360 lets the client recover from "{msg}" by bumping its epoch, instead
        of surfacing {cls} to the application.
    """,
    "a book's paragraph": """
        A zombie that wakes up and calls commitTransaction() will be refused: its epoch is older than the one the
        coordinator holds, and it receives a {cls} with the message "{msg}".
        This is the fence that gives transactions their name.
    """,
    "German prose": """
        Wenn zwei Instanzen dieselbe transactional.id verwenden, bekommt die aeltere eine {cls}: "{msg}".
        Das ist kein Fehler im Broker, sondern so gewollt.
    """,
    "an instruction and what happens without it": """
        ## Rules for changing this repo
        - Keep `acks=all` in the shared properties
        - Do not remove the ordinal from the id - without it two pods share one and the writer restart-loops with
          `{cls}: {msg}`
        - no default on `orders.status`
    """,
    "the error as the condition of a rule": """
        When would our writer see that? Only when a new producer has the same id.

        If we get "{msg}" in single-writer mode the right thing is to step down, not to retry. `{cls}` on send should
        take the same path.
    """,
    "a review that asks": """
        reviewer: does it make sense to retry here, given that a single `{cls}` ("{msg}") is unrecoverable?

        author: Not that I can think of.
    """,
    "a Chinese article": """
        # 连续使用同一事务ID的分析

        如果在提交之后立刻用同一个事务ID开始新的事务\uff0c有时会看到 "{go}"。加上等待之后问题消失。

        另外\uff0c再平衡时如果出现 {const}\uff08"{msg}"\uff09\uff0c重试没有意义\uff0c应关闭该生产者。
    """,
    "a Chinese table of advice": """
        客户端可能抛出 `{cls}`\uff0c此时应当关闭生产者\uff0c不要重试。错误信息是 "{msg}"。
    """,
    "an alert's definition": """
        groups:
          - name: kafka
            rules:
              - alert: TransactionErrors
                expr: increase(app_errors_total{{type="{cls}"}}[5m]) > 0
                annotations:
                  summary: "{cls} in {{{{ $labels.pod }}}}"
                  description: "{msg}"
    """,
    "a search": """
        Saved search for the dashboard:
        index=prod sourcetype=app "{cls}" OR "{const}" OR "{msg}" | stats count by host
        It has returned no results for the last 30 days.
    """,
    "a grep without hits": """
        $ grep -c "{cls}" app.log
        0
        $ grep -rn "{msg}" /var/log/kafka/ | wc -l
        0
    """,
    "metrics": """
        # HELP app_errors_total Errors by class
        # TYPE app_errors_total counter
        app_errors_total{{class="{cls}",code="{const}"}} 0
        app_errors_total{{class="RecordTooLargeException",code="MESSAGE_TOO_LARGE"}} 0
    """,
}
CHANGES = {
    "a changelog": """
        ## 2.4.1
        - Fixed: `{cls}` was thrown after a rebalance although nobody else used the id (#4711)
        - Fixed: "{msg}" is now logged at DEBUG
        - Improved: error {const} carries the transactional id
    """,
    "release notes": """
        Bug fixes
          * Fix for "{lib}" when the broker was rolled during EndTxn.
          * Handle {const} in AddOffsetsToTxn as abortable.
          * KAFKA-9999: {cls}: {msg} on a healthy producer.
    """,
    "a commit message": """
        commit 3f2b14e0a1b2c3d4
        Author: Ann Writer <ann@example.org>

            Treat {const} as abortable

            The client raised {cls}: {msg}
            although the epoch could have been bumped (KIP-360). Now it bumps the epoch and goes on.
    """,
    "a diff": """
        diff --git a/src/Writer.java b/src/Writer.java
        @@ -40,7 +40,9 @@ class Writer {{
        -            throw new {cls}("{msg}");
        +            if (isFenced)
        +                throw new {cls}("{msg}");
        +            producer.abortTransaction();
    """,
    "an upgrade note": """
        Upgrading to 3.0

        Before this release send() could raise {cls} ("{msg}"); from now on it raises
        InvalidProducerEpochException, which is abortable. Applications that catch only {cls} should be changed.
    """,
    "a review": """
        src/writer.py line 88: we should catch {cls} here, otherwise "{msg}" ends the worker
        src/writer.py line 93: nit, name the constant {const} instead of 90
        Otherwise LGTM.
    """,
    "a ticket's acceptance": """
        Story: handle fencing
        Given a second writer with the same transactional id
        When the first one commits
        Then it fails with "{cls}: {msg}"
        And the process exits with code 3
    """,
}
CODE = {
    "Java that catches": """
        try {{
            producer.commitTransaction();
        }} catch ({cls} e) {{
            // {msg}
            log.error("fenced: {msg}", e);
            producer.close();
        }}
    """,
    "Java's javadoc": """
        /**
         * Commits the transaction.
         *
         * @throws {cls} if another producer is active: {msg}
         * @throws org.apache.kafka.common.errors.{cls} fatal error
         */
        public void commit() {{
            producer.commitTransaction();
        }}
    """,
    "Java's table of errors": """
        public enum Errors {{
            {const}(90, "{msg}",
                {cls}::new),
            NOT_COORDINATOR(16, "This is not the correct coordinator.",
                NotCoordinatorException::new);
    """,
    "a test in Java": """
        @Test
        void fencedWriterStops() {{
            mock.fenceProducer();
            var e = assertThrows({cls}.class, () -> writer.commit());
            assertEquals("{msg}", e.getMessage());
        }}
    """,
    "Python that handles": """
        try:
            producer.commit_transaction()
        except KafkaException as e:
            err = e.args[0]
            if err.code() == KafkaError._FENCED:
                # {lib}
                raise SystemExit("{lib}")
            if err.txn_requires_abort():
                producer.abort_transaction()
    """,
    "Python's table of errors": """
        class Fenced(BrokerResponseError):
            errno = 90
            message = '{const}'
            description = '{msg}'
    """,
    "a test in Python": """
        def test_fenced(mock_producer):
            mock_producer.commit_transaction.side_effect = KafkaException(KafkaError(KafkaError._FENCED, "{lib}"))
            with pytest.raises(KafkaException, match="{lib}"):
                writer.commit()
    """,
    "Go's errors": """
        // ErrFenced means: {msg}
        var ErrFenced = errors.New("{go}")

        func (w *Writer) commit() error {{
            if err := w.p.CommitTxn(); errors.Is(err, ErrFenced) {{
                return fmt.Errorf("{go}: %w", err)
            }}
            return nil
        }}
    """,
    "Go's switch": """
        switch err {{
        case sarama.ErrFenced:
            return "{go}"
        case sarama.ErrUnknown:
            return "kafka server: Unexpected (unknown?) server error"
        }}
    """,
    "a table in JavaScript": """
        const errors = [
          {{
            type: '{const}',
            code: 90,
            retriable: false,
            message: '{msg}',
          }},
        ]
    """,
    "a test in JavaScript": """
        test('rejects a fenced producer', async () => {{
          await expect(transaction.commit()).rejects.toThrow(
            new {js}(
              '{msg}'
            )
          )
        }})
    """,
    "C's descriptions": """
        static const struct err_desc descs[] = {{
            _DESC(RD_KAFKA_RESP_ERR_{const},
                  "{lib}"),
            _DESC(RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
                  "Broker: Not coordinator"),
        }};
    """,
    "C's header": """
        typedef enum {{
                /** {msg} */
                RD_KAFKA_RESP_ERR_{const} = 90,
                /** Not coordinator */
                RD_KAFKA_RESP_ERR_NOT_COORDINATOR = 16,
        }} rd_kafka_resp_err_t;
    """,
    "C's format": """
        rd_kafka_txn_set_fatal_error(rk, RD_DO_LOCK, RD_KAFKA_RESP_ERR_{const},
                                     "Failed to end transaction: %s: {lib}",
                                     rd_kafka_err2str(err));
    """,
    "C#": """
        catch (KafkaException e) when (e.Error.Code == ErrorCode.Fenced)
        {{
            // {lib}
            logger.LogError("{lib}");
            throw new InvalidOperationException("{cls}: {msg}", e);
        }}
    """,
    "Rust": """
        match producer.commit_transaction(timeout) {{
            Err(KafkaError::Transaction(e)) if e.is_fatal() => {{
                // {lib}
                panic!("{lib}");
            }}
            Ok(()) => (),
        }}
    """,
    "attributes of Rust": """
        #[error("{msg}")]
        {cls},
        #[error("{lib}")]
        Other,
    """,
    "arms of a match in Rust": """
        Errors::{cls} => "{msg}",
        Errors::Other => {{
            "{lib}"
        }},
    """,
    "arms of a match in PHP": """
        self::{const} => '{msg}',
        self::OTHER_ERROR => 'Something else.',
    """,
    "arms of a case in Ruby": """
        when 'Unknown error with code 47' then '{const}: {msg}'
        when 'Unknown error with code 7' then 'REQUEST_TIMED_OUT: The request timed out.'
    """,
    "arms of a match in Scala": """
        case Errors.{const} => "{msg}"
        case other => other.message
    """,
    "a card of a page in JavaScript": """
        title: 'Two writers share one id',
        symptom: 'The older one stops.',
        signal: '{cls}: {msg}',
    """,
    "constructors in C#": """
        new Error(ErrorCode.{const}, false, "{msg}"),
        new Error(ErrorCode.REQUEST_TIMED_OUT, true, "The request timed out."),
    """,
    "a settings page": """
        transaction.timeout.ms
            The longest time that a transaction may stay open before the coordinator aborts it. If it is above the
            broker's maximum the producer fails with {cls}: {msg}
            Default: 60000 (1 minute)

        enable.idempotence
            When true the producer writes each record once. Default: true
    """,
}
TESTS = {
    "Jest": """
        PASS src/writer.spec.ts
          writer
            \u2713 stops on {const} (31 ms)
            \u2713 throws "{msg}" (12 ms)

        Tests: 2 passed, 2 total
    """,
    "pytest": """
        tests/test_writer.py::test_raises_{const} PASSED                         [ 50%]
        tests/test_writer.py::test_message["{msg}"] PASSED   [100%]
        ============================== 2 passed in 0.31s ==============================
    """,
    "JUnit": """
        WriterTest > stops on {cls}: {msg} PASSED
        WriterTest > goes on after abort PASSED

        BUILD SUCCESSFUL in 12s
    """,
    "Go": """
        === RUN   TestFenced/{go}
        --- PASS: TestFenced (0.01s)
            --- PASS: TestFenced/{go} (0.00s)
        ok      example.org/writer      0.412s
    """,
    "a test's output": """
        [INFO] Running org.example.WriterTest
        [INFO] expected exception seen: {cls}: {msg}
        [INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0
    """,
    "an expectation that was met": """
        10:11:12.031 [main] INFO  c.e.FenceTest - second producer initialised
        10:11:12.041 [main] INFO  c.e.FenceTest - first producer got {cls} as expected
        [INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0
    """,
    "cargo": """
        running 2 tests
        test writer::fenced_is_fatal ... ok
        test writer::says::{const} ... ok

        test result: ok. 2 passed; 0 failed
    """,
    "TAP": """
        ok 1 - rejects with {js}: {msg}
        ok 2 - aborts
        # pass 2
    """,
}
KINDS = {"prose": PROSE, "changes": CHANGES, "code": CODE, "tests": TESTS}
