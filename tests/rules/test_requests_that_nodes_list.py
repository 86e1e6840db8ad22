"""Nodes that list no requests of transactions, as Java's clients log the answer to ApiVersions at DEBUG.

Source  NetworkClient.handleApiVersionsResponse (`Recorded API versions for node` up to 2.6, `Node N has finalized
        features` since 2.7), NodeApiVersions.toString (0.11 to 4.0); controllers list no requests of clients.
"""

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

TRANSACTIONAL = "[Producer clientId=feed-1, transactionalId=feed] "
PLAIN, READER, ADMIN = "[Producer clientId=feed-1] ", "[Consumer clientId=c, groupId=g] ", "[AdminClient clientId=a] "
BEFORE_27 = "Recorded API versions for node -1: "
SINCE_27 = (
    "Node -1 has finalized features epoch: -1, finalized features: [], supported features: [], ZK migration ready: "
    "false, API versions: "
)
TAKES, CONTROLS = "Produce(0): 3 to 7 [usable: 7]", "Produce(0): UNSUPPORTED"
KNOWN = (
    "InitProducerId(22): 0 to 4 [usable: 4], AddPartitionsToTxn(24): 0 to 3 [usable: 3], AddOffsetsToTxn(25): 0 to 3 "
    "[usable: 3], EndTxn(26): 0 to 3 [usable: 3], WriteTxnMarkers(27): UNSUPPORTED, TxnOffsetCommit(28): 0 to 3"
)
UNKNOWN = (
    "InitProducerId(22): UNSUPPORTED, AddPartitionsToTxn(24): UNSUPPORTED, AddOffsetsToTxn(25): UNSUPPORTED, "
    "EndTxn(26): UNSUPPORTED, WriteTxnMarkers(27): UNSUPPORTED, TxnOffsetCommit(28): UNSUPPORTED"
)
GIVEN = (
    "2024-05-02 11:25:09,120 INFO [Producer clientId=feed-1, transactionalId=feed] ProducerId set to 71 with epoch 3 "
    "(org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)


def listed(whose: str, said: str, first: str, requests: str) -> str:
    """The line of a list."""
    apis = f"{first}, Fetch(1): 4 to 11 [usable: 11], FindCoordinator(10): 0 to 3 [usable: 3], {requests}"
    return (
        f"2024-05-02 11:25:08,114 DEBUG {whose}{said}({apis}, DescribeTransactions(65): UNSUPPORTED) "
        "(org.apache.kafka.clients.NetworkClient)\n"
    )


def told(folder: Path, text: str) -> list[tuple[str, str, str, str]]:
    """Rule, verdict, severity and title of what is found."""
    path = folder / "app.log"
    path.write_text(text)
    found = document(kafkatx.diagnose([path]), "1")["findings"]
    return [(one["rule"], one["verdict"], one["severity"], one["title"]) for one in found]


@pytest.mark.parametrize("said", [BEFORE_27, SINCE_27])
def test_a_transactional_producer_whose_node_knows_no_transactions_can_have_none(said, tmp_path):
    assert told(tmp_path, listed(TRANSACTIONAL, said, TAKES, UNKNOWN)) == [
        ("misconfiguration", "likely", "error", "brokers or a proxy without transactions")
    ]


@pytest.mark.parametrize(
    "text",
    [
        listed(TRANSACTIONAL, SINCE_27, TAKES, KNOWN),
        listed(PLAIN, SINCE_27, TAKES, UNKNOWN),
        listed(READER, SINCE_27, TAKES, UNKNOWN),
        listed(ADMIN, SINCE_27, TAKES, UNKNOWN),
        listed(TRANSACTIONAL, SINCE_27, CONTROLS, UNKNOWN),
        listed(ADMIN, SINCE_27, CONTROLS, UNKNOWN),
        listed(TRANSACTIONAL, SINCE_27, TAKES, UNKNOWN) + GIVEN,
    ],
    ids=["known", "plain", "reader", "admin", "controller", "controller of an admin", "another broker gave an id"],
)
def test_lists_that_say_nothing_of_a_transactional_producer(text, tmp_path):
    assert not told(tmp_path, text)


def test_the_end_of_a_list_that_somebody_took_out_of_a_log_is_a_guess(tmp_path):
    cut = UNKNOWN[len("InitProducerId(22): UNSUPPORTED, A") :] + ", DescribeAcls(29): UNSUPPORTED)\n"
    page = f"Our transactional producer can not publish\n\n{cut}"
    assert told(tmp_path, page) == [
        ("misconfiguration", "possible", "warning", "brokers or a proxy without transactions")
    ]
    assert not told(tmp_path, f"{cut}{listed(READER, SINCE_27, TAKES, UNKNOWN)}")
