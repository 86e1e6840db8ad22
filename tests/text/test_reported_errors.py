"""An error is met where the sentence beside the one that explains it says that somebody saw it; nowhere else."""

from __future__ import annotations

import pytest

from kafkatx.text.events import MET, NAMED
from kafkatx.text.lines import Page, lines
from kafkatx.text.prose.named_errors import named_in

REPORTED = (
    "The transactional producer may reach a state where OUT_OF_ORDER_SEQUENCE_NUMBER errors get thrown. "
    "All that is sent after that is lost until the pod is restarted.",
    "> We observed a case where the coordinator of transactions could not load a\n> partition. Clients would "
    "continue\n> seeing COORDINATOR_LOAD_IN_PROGRESS exceptions until the broker is restarted.",
    "Here I see two behaviours of the transaction:\n\n- if there is one instance, it commits\n"
    "- if there is another one, the call fails with a `ProducerFencedException` as expected.",
    "Sometimes Kafka can give us an InvalidProducerEpochException instead, although there is one producer.",
    "On OUT_OF_ORDER_SEQUENCE the transactional producer may ask for a new epoch, but this inadvertently begins a new "
    "transaction on the broker.",
    "The next call may get CONCURRENT_TRANSACTIONS: the transaction is dirty, all others are doomed to fail.",
    "The coordinator of the transaction may return `INVALID_TXN_STATE` to it. Nothing recovers from it and the "
    "affected thread dies.",
    "开发者发现,当快速使用相同事务ID时,会出现 ConcurrentTransactionsException 的错误。",
    "    producer.commitTransaction();\n    // ProducerFencedException! because the tx has been aborted\n    "
    "producer.close();",
)
EXPLAINED = (
    "The transactional producer may get OUT_OF_ORDER_SEQUENCE_NUMBER. It is thrown if records before it are missing.",
    "Clients may see COORDINATOR_LOAD_IN_PROGRESS while a coordinator of transactions loads. Retry until it is ready.",
    "There are two behaviours of a transaction:\n\n- if there is one instance, it commits\n"
    "- if there is another one, the call may fail with a `ProducerFencedException`.",
    "Sometimes a transaction can end with an InvalidProducerEpochException. Close the producer then.",
    "This ensures that users who noticed a fence of a transaction do not see a ProducerFencedException if they wait.",
    "Can a transaction that we observed before end with ProducerFencedException?",
    "    producer.commitTransaction();\n    // ProducerFencedException if the tx was aborted\n    producer.close();",
    "开发者应当知道,当快速使用相同事务ID时,会出现 ConcurrentTransactionsException 的错误。",
)


def _names(text: str) -> set[str]:
    return {one.name for one in named_in(list(lines(Page(text.encode())))) if one.error}


@pytest.mark.parametrize("text", REPORTED)
def test_what_was_seen_beside_its_error_is_met(text: str) -> None:
    assert MET in _names(text)


@pytest.mark.parametrize("text", EXPLAINED)
def test_what_only_explains_is_not(text: str) -> None:
    assert _names(text) <= {NAMED}


@pytest.mark.parametrize("text", EXPLAINED)
def test_nor_is_it_where_another_paragraph_tells_of_something_else(text: str) -> None:
    page = f"{text}\n\nThe names are listed by number.\n\nWe noticed that the page is long.\n"
    assert _names(page) <= {NAMED}
