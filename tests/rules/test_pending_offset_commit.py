"""pending_offset_commit: a group that waits, by its consumers' lines and by the disk; a moment of it is every day's."""

import pytest

from kafkatx import diagnose
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, line
from tests.rules.cluster import HOUR, MINUTE, START, TWO_PHASE, Cluster
from tests.rules.log_told import by_logs, findings, only, rule

check = rule("pending_offset_commit")


@pytest.fixture(autouse=True)
def whole_logs(monkeypatch):
    monkeypatch.setattr("kafkatx.findings.client_lines.FEW_LINES", 0)


def waiting(*times, kind=EventKind.unstable_offsets, **columns):
    return [line("a.log", at, kind, **{"group": "etl", "topic": "in", "partition": 1, **columns}) for at in times]


@pytest.mark.parametrize(
    ("times", "severity"),
    [
        (("10:00:00",), Severity.info),
        (("10:00:00", "10:00:20"), Severity.warning),
        (("10:00:00", "10:05:00"), Severity.error),
        ((None,), Severity.warning),
    ],
)
def test_it_is_as_bad_as_it_is_long(times, severity):
    found = only(check, by_logs(waiting(*times)))
    assert (found.verdict, found.severity) == (Verdict.likely, severity)
    assert "group etl" in found.summary


def test_a_line_that_somebody_shows_was_more_than_a_moment(monkeypatch):
    monkeypatch.setattr("kafkatx.findings.client_lines.FEW_LINES", 50)
    assert only(check, by_logs(waiting("10:00:00"))).severity is Severity.warning


def test_an_error_of_a_library_tells_it():
    said = {"error": f"{ERRORS}UnstableOffsetCommitException", "detail": "There are unstable offsets to be cleared"}
    assert only(check, by_logs(waiting(None, kind=EventKind.failure, group=None, **said))).severity is Severity.warning


def test_offsets_without_a_marker_on_disk(tmp_path):
    cluster = Cluster(tmp_path)
    cluster.init("etl-0", HOUR)
    cluster.begin("etl-0", "__consumer_offsets-0")
    cluster.wait(2 * MINUTE)
    cluster.beat(partition="orders-0")
    found = only(check, cluster.model())
    assert (found.topic, found.transactional_id, found.severity) == ("__consumer_offsets", "etl-0", Severity.warning)


@pytest.mark.parametrize(
    ("timeout", "says"), [(HOUR, "transaction.timeout.ms is over"), (TWO_PHASE, "keepPreparedTxn")]
)
def test_what_is_said_of_the_end_depends_on_whether_the_transaction_has_a_timeout(tmp_path, timeout, says):
    """KIP-939: the coordinator never ends a two-phase transaction, and a plain initTransactions undoes it."""
    cluster = Cluster(tmp_path)
    cluster.init("etl-0", timeout)
    cluster.begin("etl-0", "__consumer_offsets-0")
    cluster.wait(2 * MINUTE)
    cluster.beat(partition="orders-0")
    end, look = only(check, cluster.model()).remedies
    assert says in end.text
    assert look.command == "kafka-dump-log.sh --offsets-decoder --files LOG_DIR/__consumer_offsets-0/SEGMENT.log"


def test_other_failures_of_consumers_are_not_it():
    said = {"error": f"{ERRORS}TimeoutException", "detail": "Timeout of 60000ms expired"}
    assert not findings(check, by_logs(waiting("10:00:00", kind=EventKind.failure, **said)))


BATCH = (
    "baseOffset: {offset} lastOffset: {offset} count: 1 baseSequence: 0 lastSequence: 0 producerId: {producer} "
    "producerEpoch: {epoch} partitionLeaderEpoch: 0 isTransactional: {transactional} isControl: false deleteHorizonMs: "
    "OptionalLong.empty position: {position} CreateTime: {at} size: 120 magic: 2 compresscodec: none crc: 7 "
    "isvalid: true\n"
)


def dumped(folder, minutes):
    """A piece of a dump: offsets in a transaction, and a plain commit some time later."""
    first = BATCH.format(offset=50, producer=9, epoch=1, transactional="true", position=900, at=START)
    later = {"offset": 51, "producer": -1, "epoch": -1, "transactional": "false", "position": 1020}
    text = first + BATCH.format(**later, at=START + minutes * MINUTE)
    (folder / "page.md").write_text(f"__consumer_offsets-31 to its end:\n\n{text}")
    found = [one.finding for one in diagnose([folder]).findings if one.finding.rule == "pending_offset_commit"]
    return found[0]


def test_a_text_that_goes_on_longer_than_a_transaction_may_last_shows_it(tmp_path):
    found = dumped(tmp_path, 40)
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.warning)


def test_a_text_that_ends_soon_behind_them_may_lack_the_marker(tmp_path):
    assert dumped(tmp_path, 5).verdict is Verdict.possible


@pytest.mark.parametrize("kind", [EventKind.isr_shrunk, EventKind.replicas_missing, EventKind.append_refused])
def test_offsets_that_may_wait_for_their_replicas_are_possible_only(kind):
    short = line("server.log", "09:59:58", kind, topic="__consumer_offsets", partition=7, error="NotEnoughReplicas")
    elsewhere = line("server.log", "09:59:58", kind, topic="orders", partition=7, error="NotEnoughReplicas")
    waits = waiting("10:00:00", "10:05:00")
    found = only(check, by_logs([short, *waits]))
    assert (found.verdict, found.severity) == (Verdict.possible, Severity.warning)
    assert only(check, by_logs([elsewhere, *waits])).verdict is Verdict.likely
