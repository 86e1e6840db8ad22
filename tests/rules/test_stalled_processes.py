"""transaction_timed_out of a process that stood still: what shows it, and what looks like it."""

import pytest

from kafkatx.terms.events import EventKind
from tests.histories.log_facts import FENCED, facts, line, source
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import CLIENT, Client, beside, only, rule

check = rule("transaction_timed_out")
BROKER = "broker-1/server.log"
MEMBER = "consumer-orders-1-5d9fa9e9-203d-455e-ad2d-9fc09c8c9567"


def told(tmp_path, *, removed=True, member=MEMBER, notices_after=None, goes_on=True):
    """The finding about a transaction whose client says nothing until 30 s after its start.

    `removed`: its group removes its consumer (`member`) at 6 s; `notices_after`: the consumer says so that much later.
    """
    cluster = Cluster(tmp_path)
    cluster.init("orders-1", 10 * SECOND)
    cluster.begin("orders-1", "orders-0")
    began, producer_id = cluster.clock, cluster.ids["orders-1"].producer_id
    cluster.time_out("orders-1", 1 * SECOND)
    cluster.wait(60 * SECOND)
    cluster.beat()
    client = Client().start(START, producer_id=producer_id)
    lines = [line(CLIENT, began - 10, EventKind.rebalance, client_id="consumer-orders-1", detail="joined")]
    if notices_after is not None:
        at = began + 6 * SECOND + notices_after
        lines.append(line(CLIENT, at, EventKind.group_lost, client_id="consumer-orders-1", error="UNKNOWN_MEMBER_ID"))
    if goes_on:
        client.fatal(began + 30 * SECOND, FENCED, "There is a newer producer with the same transactionalId")
    if removed:
        lines.append(line(BROKER, began + 6 * SECOND, EventKind.member_removed, group="orders", detail=member))
    lines.append(line(BROKER, began + 60 * SECOND, EventKind.isr_changed, detail="1"))
    given = facts([*client.said, *lines], [source(CLIENT), source(BROKER, broker_id=1)])
    return only(check, beside(cluster, given))


def is_stalled(found) -> bool:
    return found.facts["stall"] is not None


def test_a_process_whose_removed_consumer_notices_nothing_stood_still(tmp_path):
    found = told(tmp_path)
    assert is_stalled(found)
    assert found.remedies[0].text.startswith("Send the aborted records again")
    assert not any(one.config for one in found.remedies)
    assert any("stood still" in one.text for one in found.remedies)


@pytest.mark.parametrize(
    "how",
    [{"removed": False}, {"member": "consumer-payments-9-5d9fa9e9"}, {"notices_after": SECOND}, {"goes_on": False}],
    ids=["never removed", "somebody else's consumer", "noticed at once", "never seen again"],
)
def test_what_only_looks_like_it_is_no_stall(tmp_path, how):
    assert not is_stalled(told(tmp_path, **how))
