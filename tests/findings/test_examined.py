"""What a diagnosis looked at is counted from rows, data and logs, and united over captures."""

import pytest

import kafkatx
from kafkatx.findings.diagnosis import Examined, Selection
from kafkatx.findings.examined import occurs
from kafkatx.terms.times import iso
from tests.evidence import fixtures
from tests.rules.cluster import MINUTE, START, Cluster

CASE = fixtures() / "k39-fenced"
FENCED = kafkatx.diagnose([CASE], selection=Selection()).examined


def busy(cluster):
    """Two ids, one transaction with two partitions and two with one."""
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0", "orders-1")
    cluster.wait(MINUTE)
    cluster.run("orders-1", "orders-0")
    cluster.init("payments-1")
    cluster.run("payments-1", "payments-0")


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    busy(made)
    return made


def test_rows_of_the_coordinator_are_counted(cluster):
    found = cluster.tell().diagnosis.examined
    assert (found.transactions, found.transactional_ids, found.producers, found.groups) == (3, 2, 2, 0)
    assert found.since == START
    assert START + MINUTE < found.until <= cluster.clock
    assert not found.is_empty


def test_what_was_looked_at_ends_with_the_newest_thing_at_hand(cluster, tmp_path):
    """A commit of a group, or a line of a log, that is no transaction's shows that nothing failed until then, too."""
    until = cluster.tell().diagnosis.examined.until
    cluster.wait(MINUTE)
    cluster.plain("__consumer_offsets-0")
    written = cluster.tell().diagnosis.examined
    assert written.until == cluster.clock > until
    log = tmp_path / "server.log"
    log.write_text(
        f"[{iso(cluster.clock + MINUTE)}] INFO Awaiting socket connections on 0.0.0.0:9092 (kafka.network.X)\n"
    )
    logged = kafkatx.diagnose([*cluster.write(), log]).examined
    assert (logged.since, logged.until) == (START, cluster.clock + MINUTE)


def test_of_data_alone_a_transaction_in_two_partitions_is_one(cluster):
    (broker,) = cluster.write()
    paths = [path for path in broker.glob("*-*") if not path.name.startswith("__")]
    found = kafkatx.diagnose(paths).examined
    assert found.transactional_ids == 0
    assert found.producers == 2
    assert found.transactions <= 3


def test_logs_alone_name_ids_and_producers():
    found = kafkatx.diagnose([CASE / "logs"]).examined
    assert (found.transactions, found.transactional_ids) == (0, FENCED.transactional_ids)
    assert found.producers > 0
    assert not found.is_empty


def test_captures_are_added_up_and_their_times_united():
    one, other = Examined(1, 1, 1, 0, 5, 7), Examined(2, 1, 1, 3, 1, 6)
    assert one + other == Examined(3, 2, 2, 3, 1, 7)
    assert one + Examined() == one
    assert Examined().is_empty


@pytest.mark.parametrize(
    ("selection", "is_there"),
    [
        (Selection(), True),
        (Selection(transactional_id="orders-1"), True),
        (Selection(transactional_id="orders"), False),
        (Selection(producer_id=7_000), True),
        (Selection(producer_id=1), False),
        (Selection(topic="payments", partition=0), True),
        (Selection(topic="payments", partition=1), False),
        (Selection(topic="orders", partition=None), True),
        (Selection(until=START - 1), False),
        (Selection(since=START), True),
    ],
    ids=str,
)
def test_whether_what_a_filter_names_is_there(cluster, selection, is_there):
    told = cluster.model()
    assert occurs(told, cluster.tell().diagnosis.examined, selection) is is_there


def test_what_filters_left_is_told_of_what():
    of_one = kafkatx.diagnose([CASE], selection=Selection(transactional_id="orders-sink-0"))
    assert (of_one.selected.findings, of_one.selected.of) == (0, 1)
    assert of_one.selected.occurs
    assert not of_one.selected.may_hide
    assert of_one.examined == FENCED
    assert kafkatx.diagnose([CASE]).selected is None


def test_a_filter_of_rules_may_hide():
    assert kafkatx.diagnose([CASE], selection=Selection(rules=frozenset({"silent_failure"}))).selected.may_hide


def test_a_capture_where_the_name_does_not_occur_does_not_count_against_another():
    found = kafkatx.diagnose([CASE, fixtures() / "k39-open"], selection=Selection(transactional_id="orders-sink-0"))
    assert found.selected.occurs
    assert found.examined.transactions > FENCED.transactions
