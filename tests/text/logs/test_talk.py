"""Lines of pages that explain errors, beside lines that tell of one."""

from __future__ import annotations

import pytest

from kafkatx.text.lines import Line
from kafkatx.text.logs.bare import is_supposed
from kafkatx.text.logs.talk import explained

FENCED = "There is a newer producer with the same transactionalId which fences the current one."


def _explained(*texts: str) -> set[int]:
    found = explained([Line(number, number, text) for number, text in enumerate(texts)])
    return set(found)


@pytest.mark.parametrize(
    "text",
    [
        f"| PRODUCER_FENCED | 90 | False | {FENCED} |",
        f"PRODUCER_FENCED\t90\tFalse\t{FENCED}",
        f"90,PRODUCER_FENCED,{FENCED}",
        "`TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId`::",
        f"ProducerFencedException: {FENCED} It means that fencing worked.",
        "`TimeoutException: Timeout expired after {n}ms while awaiting {op}`. Raise the timeout.",
    ],
)
def test_a_line_of_a_table_or_glossary_explains(text: str) -> None:
    assert _explained("Errors", text) == {1}


def test_what_a_stack_follows_was_thrown() -> None:
    told = f"| PRODUCER_FENCED | 90 | False | {FENCED} |"
    assert not _explained(told, "    at org.apache.kafka.clients.producer.KafkaProducer.send(KafkaProducer.java:1)")


@pytest.mark.parametrize("extends", [("extends OutOfOrderSequenceException",), ()], ids=["extends", "alone"])
def test_what_a_reference_writes_below_a_class_explains_to_the_next_empty_line(extends: tuple[str, ...]) -> None:
    described = ("This exception is raised by the broker if it could not", "locate the producer metadata.")
    texts = ("public class UnknownProducerIdException", *extends, *described, "", f"ProducerFencedException: {FENCED}")
    assert _explained(*texts) == set(range(len(texts) - 2))


def test_one_heading_names_what_happened_and_several_are_a_list() -> None:
    heading = f"## ProducerFencedException: {FENCED}"
    other = "## OutOfOrderSequenceException: The broker received an out of order sequence number."
    assert not _explained(heading, "since Monday")
    assert _explained(heading, "two owners", other) == {0, 2}


def test_a_row_with_a_time_tells() -> None:
    assert not _explained(f"| a-0 | 10:02:11 | ProducerFencedException: {FENCED} |")


@pytest.mark.parametrize(
    ("text", "explains"),
    [
        (f"**Expected behaviour:** the send ends in `ProducerFencedException: {FENCED}`", True),
        (f"Expected result: `ProducerFencedException: {FENCED}`", True),
        (f"Expected result: a commit, but `ProducerFencedException: {FENCED}`", False),
        (f"**Actual behaviour:** `ProducerFencedException: {FENCED}`", False),
    ],
)
def test_what_should_have_been_was_not(text: str, explains: bool) -> None:
    assert bool(_explained("We use transactions.", text)) is explains


@pytest.mark.parametrize(
    ("text", "supposed"),
    [
        (f'and will I get `ProducerFenced` ("{FENCED}") or something else?', True),
        ('I read that it should come back ("kafka server: The broker received a duplicate sequence number")', True),
        ('When I call commit I get `KafkaError{code=_FENCED,val=-144,str="..."}`. Will it recover?', False),
        (f'The second should take over, but the first died with "ProducerFencedException: {FENCED}"', False),
    ],
)
def test_a_clause_says_whether_its_quotation_happened(text: str, supposed: bool) -> None:
    assert is_supposed(text) is supposed


GLOSSARY = (
    " * common errors",
    f" * Caused by: org.apache.kafka.common.errors.ProducerFencedException: {FENCED}",
    " * lower the timeout of the sink",
    " * Caused by: org.apache.kafka.common.KafkaException: Unexpected error in InitProducerIdResponse; it is large.",
)
FRAME = " * \tat org.apache.kafka.clients.producer.KafkaProducer.send(KafkaProducer.java:1)"


@pytest.mark.parametrize(("first", "last"), [("/**", " * x"), (" * @author somebody", " * x"), (" * x", " */")])
def test_a_block_of_documentation_only_explains(first: str, last: str) -> None:
    assert {2, 4} <= _explained(first, *GLOSSARY, last)


def test_what_has_frames_in_a_block_of_documentation_was_thrown() -> None:
    assert 2 not in _explained("/**", *GLOSSARY[:2], FRAME, " */")


def test_items_of_a_list_are_no_block_of_documentation() -> None:
    assert not _explained(*(text.strip() for text in GLOSSARY[:2]), "* we restarted it", "* and it came again")


@pytest.mark.parametrize(
    "reference",
    [
        ("Class ProducerFencedException",),
        ("public final class ProducerFencedException", "extends ApiException"),
        ("Kafka errors", "interface RetriableException", "Direct Known Subclasses:", "ProducerFencedException"),
        ("class org.apache.kafka.common.errors.ProducerFencedException extends ApiException",),
        ("    ProducerFenced = 90,", "    InvalidProducerEpoch = 47,"),
    ],
)
def test_the_reference_of_a_class_only_explains(reference: tuple[str, ...]) -> None:
    assert len(reference) - 1 in _explained(*reference)


@pytest.mark.parametrize(
    "told",
    [
        ("ProducerFencedException",),
        ("class: org.apache.kafka.common.errors.ProducerFencedException", "level: ERROR"),
        ("the class ProducerFencedException was thrown here at noon",),
    ],
)
def test_a_class_by_itself_is_no_reference(told: tuple[str, ...]) -> None:
    assert not _explained(*told)


@pytest.mark.parametrize(
    ("text", "explains"),
    [
        ("トランザクションが期限切れの場合は、クライアントに`ProducerFencedException`が返される。", True),
        (
            "タイムアウトを超えていなければ、プロデューサーに`ProducerFencedException`が投げられることはありません。",
            True,
        ),
        ("昨夜のバッチで`ProducerFencedException`が発生しました。プロデューサーは一つだけです。", False),
        ("트랜잭션 시간이 초과된 경우에는 프로듀서가 `ProducerFencedException` 예외를 받게 됩니다.", True),
        ("어제부터 배치 작업에서 `ProducerFencedException` 예외가 발생했습니다. 원인을 모르겠습니다.", False),
    ],
)
def test_other_languages_say_whether_it_is_any_case(text: str, explains: bool) -> None:
    assert bool(_explained("kafka", text)) is explains


ELEMENTS = (
    "  lines: [",
    "    'enable.idempotence=true',",
    f"    'ProducerFencedException: {FENCED}',",
    "    '# and so on',",
)


def test_an_element_of_an_array_of_a_program_only_explains() -> None:
    assert 2 in _explained(*ELEMENTS)


@pytest.mark.parametrize(
    "told",
    [
        tuple(text.replace("'", '"') for text in ELEMENTS),
        (ELEMENTS[0], ELEMENTS[1], f"    '2024-03-04 10:11:12 ERROR ProducerFencedException: {FENCED}',", ELEMENTS[3]),
        (ELEMENTS[2], "    'at org.apache.kafka.clients.producer.KafkaProducer.send(KafkaProducer.java:1)',"),
        (f"'ProducerFencedException: {FENCED}',", "and then it stopped"),
    ],
    ids=["json", "time", "frames", "alone"],
)
def test_a_log_in_an_array_and_a_quotation_tell(told: tuple[str, ...]) -> None:
    assert not {number for number, text in enumerate(told) if FENCED in text} & _explained(*told)


@pytest.mark.parametrize(
    ("text", "explains"),
    [
        (f"A producer fails with `ProducerFencedException: {FENCED}`, usually right after a broker incident.", True),
        (f"Any client gets `ProducerFencedException: {FENCED}` from such a coordinator.", True),
        (f"A producer of ours failed with `ProducerFencedException: {FENCED}` right after a broker incident.", False),
        (f"The producer fails with `ProducerFencedException: {FENCED}` since the broker incident.", False),
    ],
)
def test_what_any_producer_meets_explains(text: str, explains: bool) -> None:
    assert bool(_explained(text)) is explains


NAMES = (
    "* APP:PRODUCER_FENCED",
    "",
    " Another one is active.",
    "* APP:RETRY_EXHAUSTED",
    " It was tried.",
    "* APP:NO_SESSION",
)


def test_items_that_are_names_above_their_meanings_are_a_list() -> None:
    assert 0 in _explained(*NAMES)
    assert 0 not in _explained(*NAMES[:4])
    assert 0 not in _explained("* PRODUCER_FENCED", "* INVALID_TXN_STATE", "* UNKNOWN_PRODUCER_ID", "since Monday")
