"""Offset commits: the kernel reads what the declarations of keys and values read, and refuses what they refuse."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import by_name, by_number
from kafkatx.kernels.offset_commits import BAD_KEY, BAD_VALUE, UNKNOWN_VALUE, walk_commits
from kafkatx.kernels.rows import BATCH, COMMIT, RECORD
from kafkatx.kernels.transaction_log import PROBLEM
from tests.building import BOTH_ENGINES
from tests.formats.message_writing import random_message
from tests.offset_commits import ZERO_ID, declared_commit, key, value

GROUPS = by_name("group_coordinator")
ABSENT = {"leaderEpoch": -1, "expireTimestamp": -1}


def walk(*pairs, control=False):
    """Rows of some keys and values that lie one behind the other, the buffer, and outcomes of problems."""
    data, records = bytearray(b"before"), np.zeros(len(pairs), RECORD)
    for number, pair in enumerate(pairs):
        records["offset"][number] = 10 + number
        for name, content in zip(("key", "value"), pair, strict=True):
            records[f"{name}_start"][number] = len(data)
            records[f"{name}_length"][number] = -1 if content is None else len(content)
            data += content or b""
    batches = np.zeros(1, BATCH)
    batches["magic"], batches["attributes"] = 2, 0x30 if control else 0x10
    out, problems = np.zeros(len(pairs), COMMIT), np.zeros(3, PROBLEM)
    count, bad = walk_commits(walk_commits.view(data), batches, records, out, problems)
    return out[:count], bytes(data), [tuple(problem) for problem in problems[:bad].tolist()]


def said(row, data):
    """What a row says, by the names of the declarations."""

    def content(name):
        length = int(row[f"{name}_length"])
        return None if length < 0 else data[row[f"{name}_start"] : row[f"{name}_start"] + length].decode()

    found = {"group": content("group"), "topic": content("topic"), "partition": int(row["partition"])}
    if row["is_tombstone"]:
        return found | {"is_tombstone": True}
    found |= {"offset": int(row["committed_offset"]), "metadata": content("metadata"), "is_tombstone": False}
    at = int(row["topic_id_start"])
    topic_id = data[at : at + 16] if at >= 0 else None
    return found | {
        "commitTimestamp": int(row["committed_at"]),
        "version": int(row["value_version"]),
        "leaderEpoch": int(row["leader_epoch"]),
        "expireTimestamp": int(row["expires_at"]),
        "topicId": topic_id,
    }


def expected(found):
    """The same of what a declaration has read."""
    import base64

    if found["is_tombstone"]:
        return found
    topic_id = found.pop("topicId", None)
    return ABSENT | found | {"topicId": None if topic_id is None else base64.urlsafe_b64decode(f"{topic_id}==")}


@pytest.mark.parametrize(
    ("name", "version"), [("LegacyOffsetCommitValue", 0), *(("OffsetCommitValue", n) for n in range(1, 5))]
)
def test_commits_of_every_version_are_those_of_the_declaration(name, version, engine):
    dice, pairs = random.Random(version), []
    for number in range(60):
        _, written = random_message(GROUPS["OffsetCommitKey"], 0, dice)
        _, content = random_message(GROUPS[name], version, dice)
        pairs.append((struct.pack(">h", number % 2) + written, struct.pack(">h", version) + content))
    rows, data, problems = walk(*pairs)
    assert not problems
    for row, pair in zip(rows, pairs, strict=True):
        found = said(row, data)
        if found["topicId"] == bytes(16):
            found["topicId"] = None  # zeros are the default, which a declaration does not show
        assert found == expected(declared_commit(*pair))


def test_the_versions_that_are_read_are_those_that_are_declared():
    values = by_number("group_coordinator", "value")
    declared = {
        (number, version) for number in (0, 1) for version in range(-1, 9) if version in values[number].versions
    }
    read = {version for version in range(9) if len(walk((key(), value(version=version)))[0])}
    assert read == {version for _, version in declared} == set(range(5))
    assert all(values[number].name.endswith("CommitValue") for number in (0, 1))


def test_a_tombstone_has_a_key_only(engine):
    rows, data, problems = walk((key("a", "b", 9), None), (key("a", version=0), None))
    assert said(rows[0], data) == {"group": "a", "topic": "b", "partition": 9, "is_tombstone": True}
    assert rows["record_row"].tolist() == [0, 1]
    assert rows["committed_offset"].tolist() == rows["committed_at"].tolist() == [-1, -1]
    assert not problems


def test_other_records_of_groups_and_control_records_are_passed_over(engine):
    others = [(struct.pack(">h", number) + b"\0\1g", b"\0\0") for number in (2, 3, 24, 300)]
    rows, _, problems = walk(*others, (key(), value()))
    assert (rows["record_row"].tolist(), problems) == ([4], [])
    rows, _, problems = walk((b"\0\0\0\1", b"\0\0\0\0\0\0"), control=True)
    assert (len(rows), problems) == (0, [])


@pytest.mark.parametrize(
    ("pair", "outcome"),
    [
        ((None, value()), BAD_KEY),
        ((b"\0", value()), BAD_KEY),
        ((b"\xff\xff" + key()[2:], value()), BAD_KEY),
        ((key() + b"\0", value()), BAD_KEY),
        ((b"\0\1\xff\xff", value()), BAD_KEY),
        ((key(), b""), BAD_VALUE),
        ((key(), value() + b"\0"), BAD_VALUE),
        ((key(), value(version=4) + b"\0"), BAD_VALUE),
        ((key(), value(version=5)), UNKNOWN_VALUE),
        ((key(), b"\xff\xff" + value()[2:]), UNKNOWN_VALUE),
    ],
)
def test_what_is_no_commit_is_told_with_its_offset(pair, outcome, engine):
    rows, _, problems = walk((key(), value()), pair, (key(), None))
    assert rows["record_row"].tolist() == [0, 2]
    assert problems == [(0, 11, outcome)]


def test_more_problems_than_there_is_room_for_are_no_harm(engine):
    rows, _, problems = walk(*[(None, None)] * 9, (key(), None))
    assert (len(rows), len(problems)) == (1, 3)


@pytest.mark.parametrize("version", range(5))
def test_a_record_that_ends_early_is_none_wherever_it_is_cut(version, engine):
    topic_id = b"0123456789abcdef" if version == 4 else None
    names, content = key("group", "topic", 1), value(11, "where", 12, version, topic_id)
    cut = [(names[:size], content) for size in range(len(names))] + [
        (names, content[:size]) for size in range(len(content))
    ]
    for pair in cut:
        assert not len(walk(pair)[0])
    assert len(walk((names, content))[0]) == 1


@BOTH_ENGINES
@given(st.binary(max_size=60), st.none() | st.binary(max_size=60), st.integers(0, 30), st.integers(0, 255))
def test_any_bytes_are_read_as_the_declaration_reads_them(engine, noise, content, at, byte):
    broken = bytearray(value(1, "m", 2, 4, bytes(range(16))))
    broken[at % len(broken)] = byte
    for pair in ((b"\0\1" + noise, content), (key(), noise), (key(), bytes(broken))):
        try:
            wanted = declared_commit(*pair)
        except Malformed:
            wanted = None
        rows, _, _ = walk(pair)
        assert len(rows) == (wanted is not None)
        if wanted is not None and not wanted["is_tombstone"]:
            assert (rows[0]["committed_offset"], rows[0]["committed_at"]) == (
                wanted["offset"],
                wanted["commitTimestamp"],
            )
            assert (rows[0]["topic_id_start"] >= 0) >= (wanted.get("topicId", ZERO_ID) != ZERO_ID)
