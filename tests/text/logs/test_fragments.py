"""Texts that stand behind somebody's words, or are cut at an end, and words about texts that are none."""

import pytest

from kafkatx.terms.events import EventKind
from kafkatx.text.logs.bare import tells
from kafkatx.text.logs.fragments import error_of, find_fragment, most_in, most_over

FENCED = (
    "Producer with transactionalId 'orders-3' and ProducerIdAndEpoch(producerId=5, epoch=3) has been fenced by another "
    "producer with the same transactionalId"
)
RETRY = (
    "Got error produce response with correlation id 17 on topic-partition pay-3, retrying (9 attempts left). Error: "
)


@pytest.mark.parametrize(
    "before", ["", "batch failed: ", "e=", "Caused by: ", '"error":"', "[main] com.example.Pay - "]
)
@pytest.mark.parametrize("behind", ["", ".", '"', ", giving up", " (com.example.Pay)"])
def test_a_text_is_found_behind_a_label(before: str, behind: str) -> None:
    found = find_fragment(before + FENCED + behind)
    assert found is not None
    assert found.kind is EventKind.failure
    assert found.values[0] == "orders-3"


@pytest.mark.parametrize("cut", range(40, len(FENCED), 7))
def test_a_text_that_lost_its_end_is_known_by_its_beginning(cut: int) -> None:
    found = find_fragment(FENCED[:cut])
    assert found is None or found.values[0] in ("orders-3", "")
    assert cut < 70 or found is not None


def test_a_text_that_lost_its_beginning_is_known_by_its_end() -> None:
    found = find_fragment("lback of ongoing transaction for transactionalId orders-1 due to timeout")
    assert found is not None
    assert (found.kind, found.values) == (EventKind.timeout_rollback, ("orders-1",))


def test_what_is_missing_of_a_cut_text_is_unknown() -> None:
    found = find_fragment(RETRY[:60])
    assert found is not None
    assert found.kind is EventKind.produce_retry
    assert "" in found.values


def test_other_words_behind_a_value_that_is_one_word_are_another_text() -> None:
    migrated = "stream-thread [w-1] Failed to process stream task 0_3"
    assert find_fragment(migrated) is not None
    assert find_fragment(f"{migrated} due to the following error:") is None


@pytest.mark.parametrize(
    "text",
    [
        f"If you see that {FENCED} you have started it twice",
        f'throw new ProducerFencedException("{FENCED}");',
        f"// {FENCED}",
        f"assertEquals({FENCED})",
        "import org.apache.kafka.common.errors.ProducerFencedException;",
        "} catch (ProducerFencedException | OutOfOrderSequenceException e) {",
        "@throws ProducerFencedException fatal error indicating another producer with the same transactional.id",
        "See org.apache.kafka.common.errors.ProducerFencedException for details.",
        "ProducerFencedException: what it means",
        f"When it wakes up the client throws `org.apache.kafka.common.errors.ProducerFencedException: {FENCED}`",
        f"`org.apache.kafka.common.errors.ProducerFencedException: {FENCED}` means that another instance was started",
        "| 90 | There is a newer producer with the same transactionalId which fences the current one. |",
    ],
)
def test_words_about_a_text_tell_nothing(text: str) -> None:
    assert not tells(text)


def test_the_message_of_an_error_alone_names_its_class() -> None:
    found = find_fragment("There is a newer producer with the same transactionalId which fences the current one.")
    assert found is not None
    assert error_of(found.pattern) == "org.apache.kafka.common.errors.ProducerFencedException"


def test_two_lines_hold_more_of_a_text_than_one() -> None:
    head, rest = RETRY[:50].rstrip(), RETRY[50:].strip() + " NETWORK_EXCEPTION"
    assert most_over(f"{head} {rest}", len(head)) > max(most_in(head), most_in(rest))
