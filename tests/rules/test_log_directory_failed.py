"""log_directory_failed: a broker's own lines prove it, their effects and a client's refusal make it likely."""

from pathlib import Path

import pytest

from kafkatx import diagnose
from kafkatx.rules.log_directory_failed import OF_DISKS
from kafkatx.rules.registry import RULES
from kafkatx.terms.verdicts import Severity, Verdict

RULE = "log_directory_failed"
APPENDING = """\
[2026-11-21 10:31:07,412] ERROR Error while appending records to {partition} in dir /data-1 \
(org.apache.kafka.storage.internals.log.LogDirFailureChannel)
java.io.IOException: {reason}
\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)
\tat org.apache.kafka.storage.internals.log.UnifiedLog.append(UnifiedLog.java:1100)
"""
STOPPING = """\
[2026-11-21 10:31:07,415] WARN [ReplicaManager broker=2] Stopping serving replicas in dir /data-1 with uuid Some(x) \
because the log directory has failed. (kafka.server.ReplicaManager)
"""
REFUSED = """\
[2026-11-21 10:31:07,500] WARN [Producer clientId=app, transactionalId=payments-eu-1] Got error produce response with \
correlation id 12 on topic-partition payments-1, retrying (2147483646 attempts left). Error: KAFKA_STORAGE_ERROR \
(org.apache.kafka.clients.producer.internals.Sender)
"""
PORT_TAKEN = """\
[2026-11-21 10:31:07,412] ERROR [KafkaServer id=2] Fatal error during KafkaServer startup. (kafka.server.KafkaServer)
java.net.BindException: Cannot assign requested address
\tat java.base/sun.nio.ch.Net.bind0(Native Method)
"""


def found(folder: Path, **logs: str):
    """The findings of the rule over logs by name."""
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text)
    return [one.finding for one in diagnose([folder]).findings if one.finding.rule == RULE]


@pytest.mark.parametrize("reason", ["No space left on device", "Input/output error"])
def test_the_line_that_names_directory_and_exception_proves_it(tmp_path, reason):
    (finding,) = found(tmp_path, server=APPENDING.format(partition="payments-1", reason=reason) + STOPPING)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.error)
    assert finding.facts["directory"] == "/data-1"
    assert finding.facts["reason"] == reason
    assert finding.facts["partitions"] == ["payments-1"]
    assert "/data-1" in finding.summary
    assert reason in finding.summary


HEADS = {
    "start-up": "2026-02-01 03:10:04,772 ERROR [KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to "
    "shutdown (kafka.server.KafkaServer) [main]",
    "loading": "ERROR Error while loading log dir /opt/kafka/data-0/logs (kafka.log.LogManager)",
    "swallowed": "2026-02-01 14:50:27,903 WARN {reason} (kafka.utils.CoreUtils$) [pool-6-thread-1]",
    "checkpoint": " ERROR Error while writing to checkpoint file /data/__cluster_metadata-0/leader-epoch-checkpoint "
    "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("reason", OF_DISKS)
def test_a_disks_own_words_make_it_likely_where_no_directory_is_named(tmp_path, head, reason):
    trace = f"java.io.IOException: {reason}\n\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)\n"
    (finding,) = found(
        tmp_path, server=f"{head.format(reason=reason)}\n{trace}\tat kafka.log.Log.recoverLog(Log.scala:814)\n"
    )
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.error)
    assert finding.facts["reason"] == reason


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-01 14:50:27,903 ERROR c.a.Export - upload failed\njava.io.IOException: No space left on device\n"
        "\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)\n\tat com.acme.Export.run(Export.java:41)\n",
        "2026-02-01 14:50:27,903 ERROR org.apache.kafka.streams.processor.internals.StateDirectory - no\n"
        "org.apache.kafka.streams.errors.ProcessorStateException: Error opening store orders\n"
        "Caused by: org.rocksdb.RocksDBException: No space left on device\n",
        "[2026-02-01 14:50:27,903] ERROR Error while accepting connection (kafka.network.Acceptor)\n"
        "java.io.IOException: Too many open files\n\tat sun.nio.ch.ServerSocketChannelImpl.accept0(Native Method)\n",
    ],
    ids=["application", "streams", "descriptors"],
)
def test_another_disk_and_descriptors_are_none(tmp_path, text):
    assert not found(tmp_path, server=text)


def test_what_the_broker_stops_serving_makes_it_likely(tmp_path):
    (finding,) = found(tmp_path, server=STOPPING)
    assert finding.verdict is Verdict.likely
    assert finding.facts["directory"] == "/data-1"
    assert (finding.who, finding.title) == ("broker 2", "log directory /data-1 failed")


def test_a_client_alone_makes_it_likely(tmp_path):
    (finding,) = found(tmp_path, client=REFUSED)
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.warning)
    assert finding.who == "payments-eu-1"
    assert "probably failed" in finding.summary
    assert [other.decided_by for other in finding.considered] == ["the server.log of the brokers that lead payments-1"]
    assert finding.remedies[0].text.startswith("Look for a failed log directory")


def test_a_client_beside_the_brokers_log_is_its_witness(tmp_path):
    (finding,) = found(tmp_path, client=REFUSED, server=APPENDING.format(partition="payments-1", reason="x") + STOPPING)
    assert finding.facts["refused"] == 1
    assert any("KAFKA_STORAGE_ERROR" in step.text for step in finding.steps)


def test_what_a_client_was_refused_long_before_is_not_its_doing(tmp_path):
    earlier = REFUSED.replace("2026-11-21 10:31:07,500", "2026-11-19 10:31:07,500")
    (finding,) = found(tmp_path, client=earlier, server=STOPPING)
    assert finding.facts["refused"] == 0
    assert finding.since == finding.until


def test_a_partition_of_coordinators_is_told(tmp_path):
    told = APPENDING.format(partition="__transaction_state-7", reason="No space left on device")
    (finding,) = found(tmp_path, server=told)
    assert any("lost their coordinator" in step.text for step in finding.steps)


CHECKPOINT = """\
[2026-06-29 03:14:52,118] ERROR Error while writing to checkpoint file /data-1/replication-offset-checkpoint \
(kafka.server.LogDirFailureChannel)
java.io.IOException: Input/output error
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
[2026-06-29 03:14:52,134] ERROR Stopping serving logs in dir /data-1 (kafka.log.LogManager)
"""


def test_a_file_in_the_directory_is_not_taken_for_it(tmp_path):
    (finding,) = found(tmp_path, server=CHECKPOINT)
    assert finding.facts["directory"] == "/data-1"
    assert finding.facts["partitions"] is None
    assert finding.steps[0].text == 'The broker could not write in /data-1: "Input/output error"'


def test_a_port_that_is_taken_is_no_directory(tmp_path):
    assert not found(tmp_path, server=PORT_TAKEN)


def test_a_line_cut_short_is_no_proof(tmp_path):
    whole = APPENDING.format(partition="payments-1", reason="No space left on device")
    verdicts = {one.verdict for end in range(40, len(whole), 40) for one in found(tmp_path, server=whole[:end])}
    assert verdicts <= {Verdict.likely, Verdict.proved}


def test_it_causes_what_it_takes_away():
    assert {effect for effect, _ in RULES[RULE].causes} >= {"transaction_timed_out", "coordinator_unavailable"}


EXPIRED = """\
[2026-11-21 10:33:07,600] ERROR [Producer clientId=app, transactionalId=payments-eu-1] send failed (com.example.Orders)
org.apache.kafka.common.errors.TimeoutException: Expiring 84 record(s) for payments-1:120015 ms has passed since batch \
creation
"""


def test_a_batch_that_met_it_until_its_time_was_over_makes_it_likely(tmp_path):
    (finding,) = found(tmp_path, app=REFUSED + EXPIRED)
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.error)
    assert finding.steps[-1].text == "The call failed for good"


def test_a_batch_of_another_partition_is_another_story(tmp_path):
    (finding,) = found(tmp_path, app=REFUSED + EXPIRED.replace("payments-1:", "payments-2:"))
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.warning)


ALL_FAILED = """\
[2026-11-21 10:31:07,690] ERROR Shutdown broker because all log dirs in /data-1 have failed (kafka.log.LogManager)
"""
STARTED = """\
[2026-11-21 11:02:44,018] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)
"""


def test_a_broker_that_stopped_for_it_is_told_as_stopped(tmp_path):
    told = APPENDING.format(partition="bills-4", reason="No space left on device") + STOPPING
    (finding,) = found(tmp_path, server=told + ALL_FAILED)
    assert "The broker stopped for it" in finding.summary
    assert "broker stopped" in finding.title
    assert finding.remedies[0].text.startswith("The broker has stopped: free or replace the disk")
    assert finding.steps[2].text == "Then the broker stopped itself"
    (other,) = found(tmp_path, server=told)
    assert "stopped" not in f"{other.title} {other.summary} {other.remedies[0].text}"


def test_a_broker_that_is_back_is_not_called_down(tmp_path):
    (finding,) = found(tmp_path, server=STOPPING + ALL_FAILED + STARTED)
    assert "later it was started again" in finding.summary
    assert not finding.remedies[0].text.startswith("The broker has stopped")


@pytest.mark.parametrize(
    "line",
    [
        "ERROR Shutdown broker because all log dirs in /d1, /d2 have failed (kafka.log.LogManager)",
        "ERROR Shutdown broker because none of the specified log dirs from /d1 can be created or validated "
        "(kafka.log.LogManager)",
        "ERROR Shutdown broker because the metadata log dir /meta has failed (kafka.server.ReplicaManager)",
        "FATAL [ReplicaManager broker=2] Halting broker because dir /d1 is offline (kafka.server.ReplicaManager)",
        "ERROR Shutdown broker because some log directory has failed during migration mode: /d1 "
        "(kafka.server.ReplicaManager)",
    ],
)
def test_each_way_to_stop_for_a_directory_is_known(tmp_path, line):
    (finding,) = found(tmp_path, server=f"[2026-11-21 10:31:07,690] {line}\n")
    assert finding.verdict is Verdict.proved
    assert finding.remedies[0].text.startswith("The broker has stopped")
    assert not [one for one in finding.considered if one.refuted]


REFUSED_BY = (
    '{"level":"ERROR","timestamp":"2023-10-01T03:33:03.300Z","logger":"kafkajs","message":"[Connection] Response '
    'Produce(key: 0, version: 7)","broker":"k9:9092","clientId":"cam","error":"Disk error when trying to access log '
    'file on the disk","correlationId":5512,"size":48}',
    '{"level":"ERROR","timestamp":"2023-10-01T03:33:12.118Z","logger":"kafkajs","message":"[Producer] Disk error when '
    'trying to access log file on the disk","retryCount":5,"retryTime":8800}',
)


def test_lines_of_kafkajs_name_who_was_refused_and_by_whom(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("\n".join(REFUSED_BY) + "\n")
    (found,) = (one.finding for one in diagnose([path]).findings)
    assert found.rule == "log_directory_failed"
    assert found.who == "cam"
    assert "k9:9092" in found.title
    assert found.summary.startswith("Broker k9:9092 refused")
    assert "k9:9092" in found.remedies[0].text
