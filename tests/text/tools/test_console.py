"""Kafka's own formatters of the console consumer: states and commits."""

from pathlib import Path

import pytest

from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.text.tools import console
from kafkatx.text.tools.console import json_objects, offset_commits, old_state_of
from kafkatx.text.tools.states import state_rows
from tests.evidence import FIXTURES
from tests.text.dump.comparing import differing, states_of_bytes, united, whole

PRINTED = Path(__file__).parent.parent / "dump/printed"
STATES = FIXTURES / "k39-expired/broker-1/__transaction_state-1/00000000000000000000.log"
OLD = (
    "{0}::TransactionMetadata(transactionalId={0}, producerId=7, producerEpoch=2, txnTimeoutMs=60000, state=Ongoing, "
    "pendingState=Some(PrepareCommit), topicPartitions={1}, txnStartTimestamp=5, txnLastUpdateTimestamp=6)"
)


def read(path: Path, names: Names):
    with OpenFile(str(path)) as file:
        return united(list(state_rows(file, whole(file), names)))


@pytest.mark.parametrize("release", ["3.9.1", "4.1.2"])
def test_states_that_a_release_printed_are_those_of_the_log(release):
    names = Names()
    theirs, ours = states_of_bytes(STATES, names), read(PRINTED / release / "console-states.txt", names)
    assert len(ours) == len(theirs) == 9
    assert differing(ours, theirs) == {}
    known = {column for column in ours.columns if ours.knows(column).all()}
    assert {"started_at", "producer_id", "partitions_code", "id_code", "updated_at", "timeout_ms", "state"} <= known
    assert not known & {"offset", "timestamp", "position", "leader_epoch", "crc"}
    assert ("client_transaction_version" in known) == (release == "4.1.2")


@pytest.mark.parametrize("release", ["3.9.1", "4.1.2"])
def test_commits_that_a_release_printed(release):
    path = PRINTED / release / "console-offsets.txt"
    with OpenFile(str(path)) as file:
        found = list(offset_commits(file, whole(file)))
    assert [(commit.partition, commit.committed_offset) for commit in found][:4] == [(1, 2), (1, 4), (1, 6), (0, 2)]
    assert {commit.group for commit in found} <= {"etl-new", "etl-late"}
    assert all(commit.committed_at > 1795257880000 for commit in found)


def test_objects_that_stand_back_to_back_have_their_own_places():
    with OpenFile(str(PRINTED / "4.1.2/console-states.txt")) as file:
        places = [(line, position) for _, line, position in json_objects(file, whole(file))]
        assert all(file.read(position, 8) == b'{"key":{' for _, position in places)
    assert len(set(places)) == 9


@pytest.mark.parametrize("block", [7, 64, 1000])
def test_objects_are_the_same_in_blocks_of_any_size(block, monkeypatch):
    path = PRINTED / "4.1.2/console-states.txt"
    with OpenFile(str(path)) as file:
        expected = list(json_objects(file, whole(file)))
        monkeypatch.setattr(console, "BLOCK", block)
        assert list(json_objects(file, whole(file))) == expected


def test_objects_that_a_terminal_broke_are_put_together(tmp_path):
    path = tmp_path / "page.txt"
    text = (PRINTED / "4.1.2/console-states.txt").read_text()
    path.write_text("schl\u00fcssel\n" + "\n".join(text[at : at + 80] for at in range(0, len(text), 80)))
    names = Names()
    ours = read(path, names)
    assert len(ours) == 9
    assert differing(ours, states_of_bytes(STATES, names)) == {}
    assert ours.lines.tolist() == sorted(ours.lines.tolist())


@pytest.mark.parametrize("name", ["a", "x::TransactionMetadata(transactionalId=y", "a, producerId=9, b", "::NULL", " "])
def test_an_id_stands_twice(name):
    state = old_state_of(OLD.format(name, "Set(t-0, t-1)"))
    assert (state.transactional_id, state.producer_id, state.partitions) == (name, 7, (("t", 0), ("t", 1)))
    assert (state.started_at, state.updated_at, state.timeout_ms) == (5, 6, 60000)
    assert old_state_of(f"{name}::NULL").is_tombstone
    assert old_state_of(f"{name}::NULL").transactional_id == name


NO_STATES = (
    "",
    "prose",
    "a::TransactionMetadata(transactionalId=b, state=Ongoing)",
    "[g,t,0]::NULL",
    OLD.format("a", "Set(t)"),
    OLD.format("a", "Set()").replace("Ongoing", "No"),
)


@pytest.mark.parametrize("text", NO_STATES)
def test_other_lines_are_no_states(text):
    assert old_state_of(text) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[g,t,3]::[OffsetMetadata[17,NO_METADATA],CommitTime 5,ExpirationTime 9]", ("g", "t", 3, 17, "", None, 5)),
        ("[a,b,t,3]::[OffsetMetadata[17,x],y],CommitTime 5,ExpirationTime 9]", ("a,b", "t", 3, 17, "x],y", None, 5)),
        (
            "[g,t,3]::OffsetAndMetadata(offset=17, leaderEpoch=Optional[4], metadata=a, b, commitTimestamp=5, "
            "expireTimestamp=None)",
            ("g", "t", 3, 17, "a, b", 4, 5),
        ),
        ("[g,t,3]::NULL", ("g", "t", 3, None, None, None, None)),
    ],
)
def test_commits_of_every_formatter(line, expected, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(f"{line}\n")
    with OpenFile(str(path)) as file:
        (found,) = offset_commits(file, whole(file))
    assert (
        found.group, found.topic, found.partition, found.committed_offset, found.metadata, found.leader_epoch,
        found.committed_at,
    ) == expected  # fmt: skip
    assert found.is_tombstone == (expected[3] is None)


@pytest.mark.parametrize(
    "text", ['{"key":{' * 5000, '{"key":{"a":' + "[" * 50_000, '{"key":{"data":1},"value":2}', "{"]
)
def test_nonsense_is_no_state_and_no_commit(text, tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(text)
    assert len(read(path, Names())) == 0
    with OpenFile(str(path)) as file:
        assert list(offset_commits(file, whole(file))) == []
