"""What rules ask of clients' logs: lines by their words, whose they are, transactions apart, what was only counted."""

from kafkatx.findings.client_lines import (
    by_client,
    by_transaction,
    only,
    partitions_named,
    producer_at,
    rows_of,
    subjects,
    times_of,
    topic_partition,
    uncounted,
)
from kafkatx.findings.finding import Subject
from kafkatx.terms.events import EventKind, Side
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.facts import client_name
from tests.histories.log_facts import DAY, FENCED, line
from tests.rules.log_told import ERROR_STATE, Client, by_logs, rule
from tests.rules.log_told import only as only_finding

check = rule("fenced_by_group_generation")

LOST = "org.apache.kafka.clients.consumer.CommitFailedException"
MISMATCH = "Transaction offset Commit failed due to consumer group metadata mismatch: unknown member"


def test_words_are_found_in_details_errors_and_causes_of_one_side():
    client = Client().start("10:00:00").threw("10:00:09", "commitTransaction", FENCED, "newer", wrapped=ERROR_STATE)
    broker = line(
        "broker-1/server.log", "10:00:09", EventKind.append_refused, error=FENCED, detail="TRANSACTION_ABORTABLE"
    )
    logs = by_logs([*client.said, broker]).logs
    assert logs.saying(Saying.FATAL_ALREADY).tolist() == [4]
    assert logs.saying(Saying.ABORTABLE, Side.broker).tolist() == [5]
    assert logs.saying(Saying.FATAL_ALREADY | Saying.ABORTABLE, None).tolist() == [4, 5]
    assert not logs.saying(Saying.MEMBER_LOST).tolist()
    assert ERROR_STATE in logs.words(4)
    assert not by_logs([]).logs.saying(Saying.FATAL_ALREADY).tolist()


def test_lines_go_to_their_clients_and_those_of_nobody_come_last():
    first, second = Client("a", path="a.log").start("10:00:00"), Client("b", path="a.log").start("10:00:01", 8)
    nobody = line("broker-1/server.log", "10:00:02", EventKind.isr_shrunk, topic="t", partition=0)
    model = by_logs([nobody, *first.said, *second.said])
    grouped = [(client_name(client).transactional_id, len(rows)) for client, rows in by_client(model, range(9))]
    assert grouped == [("a", 4), ("b", 4), (None, 1)]
    assert rows_of(model.logs, model.logs.clients[1], EventKind.producer_id_set).tolist() == [8]


def test_two_clients_without_a_name_are_two():
    said = [line(path, None, EventKind.failure, error=FENCED, detail="newer") for path in ("a.log", "b.log")]
    names = {client_name(client) for client in by_logs(said).logs.clients}
    assert len(names) == 2
    assert {format(name) for name in names} == {"a client not named in the log"}


def test_the_epoch_of_a_line_is_the_one_given_before_it():
    client = Client().start("10:00:00").aborts("10:00:01").given("10:00:02", 7, 1).aborts("10:00:03")
    (made,) = by_logs(client.said).logs.clients
    assert [producer_at(made, row) for row in (0, 4, 6)] == [(None, None), (7, 0), (7, 1)]


def test_an_abort_parts_two_transactions():
    client = Client().start("10:00:00").abortable("10:00:01", LOST).abortable("10:00:01", LOST).aborts("10:00:02")
    model = by_logs(client.abortable("10:00:03", LOST).said)
    rows = rows_of(model.logs, model.logs.clients[0], EventKind.to_abortable).tolist()
    assert list(by_transaction(model.logs, model.logs.clients[0], rows)) == [[4, 5], [7]]
    assert list(by_transaction(model.logs, None, rows)) == [[4, 5, 7]]


def test_lines_that_a_reader_only_counted_count():
    client = Client().start("10:00:00")
    client.say("10:00:01", EventKind.to_abortable, error=LOST, detail=MISMATCH, repeats=400).aborts("10:00:02")
    client.say("10:00:03", EventKind.to_abortable, error=LOST, detail=MISMATCH).aborts("10:00:04")
    assert only_finding(check, by_logs(client.said)).count == 402
    logs = by_logs(client.said).logs
    assert uncounted(logs, [4, 5]) == 0
    assert uncounted(logs, []) == 0


def test_values_and_subjects():
    assert (only([3, 3]), only([3, 4]), only([])) == (3, None, None)
    assert not subjects([Subject("a")])
    assert [one.transactional_id for one in subjects([Subject(name) for name in "abcde"])] == ["a", "c", "e"]
    logs = by_logs([line("a.log", None, EventKind.abort_called), line("a.log", DAY, EventKind.abort_called)]).logs
    assert (times_of(logs, [0]), times_of(logs, [0, 1])) == ((None, None), (DAY, DAY))


def test_a_partition_is_named_where_a_line_has_topic_and_number():
    told = [("t", 1), ("t", None), (None, 2), ("s", 0), ("t", 1)]
    said = [
        line(
            "broker-1/server.log",
            f"10:00:0{second}",
            EventKind.append_refused,
            topic=topic,
            partition=-1 if number is None else number,
        )
        for second, (topic, number) in enumerate(told)
    ]
    logs = by_logs(said).logs
    assert [topic_partition(logs, row) for row in range(5)] == [("t", 1), None, None, ("s", 0), ("t", 1)]
    assert partitions_named(logs, range(5)) == ("t-1", "s-0")
    assert not partitions_named(logs, [1, 2])
