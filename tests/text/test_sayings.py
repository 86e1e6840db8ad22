import pytest

from kafkatx.text.error_messages.sayings import (
    EndGivenUp,
    ExpiredBatch,
    Saying,
    end_given_up_in,
    expiry_in,
    said_in,
    wrong_state_in,
)
from kafkatx.text.events import Thrown, Trace


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        ("The client hasn't received acknowledgment for some previously sent messages", Saying.LOST_ACKNOWLEDGEMENT),
        ("Local: Gap-less ordering not guaranteed (_GAPLESS_GUARANTEE)", Saying.LOST_ACKNOWLEDGEMENT),
        ("It is safe to abort the transaction and continue.", Saying.STAYS_ABORTABLE),
        ("org.apache.kafka.common.errors.InterruptException: null", Saying.INTERRUPTED),
        ("Local: Timed out (_TIMED_OUT)", Saying.TIMED_OUT),
        ("Local: Message timed out (_MSG_TIMED_OUT)", Saying(0)),
        ("Unable to verify the partition", Saying.UNABLE_TO_VERIFY),
        ("TransactionAbortableException: Transaction Request was aborted after exhausting retries.",
         Saying.ABORTABLE | Saying.OUT_OF_RETRIES),
        ("Invalid transition attempted from state READY to state COMMITTING_TRANSACTION", Saying.WRONG_STATE),
        ("Invalid transition attempted from state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION",
         Saying.END_GIVEN_UP),
        ("Invalid transition attempted from state FATAL_ERROR to state ABORTING_TRANSACTION", Saying.FATAL_ALREADY),
        ("all is well", Saying(0)),
    ],
)  # fmt: skip
def test_what_a_text_says(text, saying):
    assert said_in(text) == said_in(f"it failed: {text} [and more]") == saying


def test_a_trace_says_what_its_exceptions_say():
    chain = (Thrown("app.Failed", "MEMBER"), Thrown("x.IllegalGenerationException", "safe to abort the transaction"))
    assert Trace(chain).said == Saying.MEMBER_LOST


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Timeout expired after 60000ms while awaiting EndTxn(true)", EndGivenUp(True, False, 60_000)),
        ("Timeout expired after 5 milliseconds while awaiting EndTxn(False)", EndGivenUp(False, False, 5)),
        ("Timeout expired after 60000ms while awaiting InitProducerId", None),
        ("the previous call to `abortTransaction` timed out and must be retried", EndGivenUp(False, True)),
        ("the previous call to `commitTransaction` timed out and must be retried", EndGivenUp(True, True)),
        ("from state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION", EndGivenUp(True, True)),
    ],
)
def test_an_end_that_was_given_up(text, end):
    assert end_given_up_in(f"failed: {text}") == end


def test_records_whose_time_was_over():
    text = "Expiring 3 record(s) for my-topic-10:30012 ms has passed since batch creation"
    assert expiry_in(text) == ExpiredBatch("my-topic", 10, 30_012)
    assert expiry_in("Expiring session") is None


def test_the_state_that_a_call_met():
    text = "Invalid transition attempted from state READY to state IN_ERROR"
    assert wrong_state_in(f"cause: {text}.") == text
    assert wrong_state_in("no") is None
