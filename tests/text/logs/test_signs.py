"""Signs of known defects: in a message, in the frames under it, with its logger; and not in what only looks like it."""

from pathlib import Path

from kafkatx.text.logs.signs import signs_in
from tests.text.logs.reading import read

FAILED = """\
[2022-11-14T02:41:19,774] ERROR [kafka-producer-network-thread | tx-1] org.apache.kafka.clients.producer.internals.Sender - [Producer clientId=tx-1, transactionalId=tx-1] Uncaught error in request completion:
org.apache.kafka.common.KafkaException: TransactionalId tx-1: Invalid transition attempted from state READY to state ABORTING_TRANSACTION
\tat org.apache.kafka.clients.producer.KafkaProducer.abortTransaction(KafkaProducer.java:660)
\tat org.apache.kafka.streams.processor.internals.StreamTask.closeSuspended(StreamTask.java:486)
"""  # noqa: E501


def signs(folder: Path, text: str) -> list[str]:
    """What the lines show, each as it stands in the table."""
    path = folder / "client.log"
    path.write_text(text)
    return [sign for event in read(path)[0] for sign in (event["signs"] or "").split("\n") if sign]


def test_frames_tell_as_much_as_the_message(tmp_path):
    found = signs(tmp_path, FAILED)
    assert "StreamTask.closeSuspended" in found
    assert "from state READY to state ABORTING_TRANSACTION" in found


def test_a_word_of_a_sign_alone_is_none():
    assert not signs_in("the MessageSet could not be reconstructed")
    assert signs_in("Unable to reconstruct MessageSet (currently with 12") == ("Unable to reconstruct MessageSet",)


def test_a_line_without_a_sign_has_none(tmp_path):
    assert not signs(tmp_path, FAILED.replace("READY", "COMMITTING_TRANSACTION").replace("closeSuspended", "suspend"))


ERLANG = """\
2026-11-21 10:00:00.131 [error] reader terminated with reason: {function_clause,
    [{lists,last,[[]],[{file,"lists.erl"},{line,228}]},
     {brod_utils,handle_fetch_rsp,7,
         [{file,"/app/deps/brod/src/brod_utils.erl"},{line,661}]}]}
"""


def test_frames_of_erlang_are_frames(tmp_path):
    assert {"{lists,last,[[]]", "{brod_utils,handle_fetch_rsp"} <= set(signs(tmp_path, ERLANG))
