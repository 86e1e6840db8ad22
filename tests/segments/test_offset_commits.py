"""Offset commits of segments: those that the declarations read, of any codec and magic; what is none is damage."""

import gzip

from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.segments.offset_commits import CommitWalk
from kafkatx.sources.files import OpenFile
from tests.building import batch, marker, message, record, segment, with_crc
from tests.formats.captures import broker_files
from tests.offset_commits import commits, declared_commits, key, value

CRC_AT = 17


def read(path):
    """(offset, group, topic, partition, committed offset, time, metadata) of every commit, and the walk."""
    found = []
    with OpenFile(str(path)) as file:
        walk = CommitWalk(file, check=CHECK_ALL)
        for chunk in walk.chunks():
            for part in walk.commits_of(chunk):
                for row in part.rows:
                    texts = {
                        name: bytes(part.of.data[row[f"{name}_start"] : row[f"{name}_start"] + row[f"{name}_length"]])
                        for name in ("group", "topic", "metadata")
                        if row[f"{name}_length"] >= 0
                    }
                    names = (
                        texts["group"].decode("utf-8", "replace"),
                        texts["topic"].decode("utf-8", "replace"),
                        int(row["partition"]),
                    )
                    said = (
                        int(row["committed_offset"]),
                        int(row["committed_at"]),
                        texts.get("metadata", b"").decode("utf-8", "replace"),
                    )
                    found.append((int(part.of.records[row["record_row"]]["offset"]), *names, *said))
    return found, walk


def test_recorded_commits_are_those_of_the_declaration(engine):
    compared = 0
    for path in broker_files("__consumer_offsets-*/*.log"):
        expected = [
            (
                entry.offset,
                *(said[name] for name in ("group", "topic", "partition")),
                *(
                    said.get(name, absent)
                    for name, absent in (("offset", -1), ("commitTimestamp", -1), ("metadata", ""))
                ),
            )
            for _, entry, said in declared_commits(path)
        ]
        found, walk = read(path)
        assert (found, walk.damage) == (expected, []), path
        compared += len(found)
    assert compared > 50


def test_commits_of_every_codec_and_of_old_messages_are_read(engine, tmp_path):
    plain = commits(0, (key("a"), value(1)), (key("b"), value(2)))
    packed = batch(2, content=gzip.compress(record(0, value(3), key("c"))), records_count=1, attributes=1)
    old = [message(3 + magic, magic, value(4, version=1), key("d")) for magic in (0, 1)]
    found, walk = read(segment(tmp_path, [plain, packed, *old]))
    assert [(offset, group, said) for offset, group, _, _, said, _, _ in found] == [
        (0, "a", 1), (1, "b", 2), (2, "c", 3), (3, "d", 4), (4, "d", 4),
    ]  # fmt: skip
    assert walk.damage == []


def test_markers_are_no_commits(tmp_path):
    found, walk = read(segment(tmp_path, [commits(0, (key(), value()), attributes=0x10), marker(1, 7)]))
    assert (len(found), walk.damage) == (1, [])


def test_what_is_no_commit_is_damage_and_the_rest_is_read(engine, tmp_path):
    path = segment(tmp_path, [commits(0, (key(), value()), (None, b"x"), (key(), value(version=9)), (key("z"), None))])
    found, walk = read(path)
    assert [row[0] for row in found] == [0, 3]
    assert [(one.kind, one.position, one.expected) for one in walk.damage] == [
        ("entry", 0, "a key of a group's record"),
        ("entry", 0, "an offset commit of version 0 to 4"),
    ]
    assert "offset 2" in walk.damage[1].found


def test_a_byte_that_is_not_what_it_was_is_damage_and_never_an_error(tmp_path):
    for version in range(5):
        whole = commits(0, (key(), value(9, "m", version=version)), (key("b"), None))
        for at in range(CRC_AT, len(whole)):
            broken = whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
            assert read(segment(tmp_path, broken))[1].damage
            read(segment(tmp_path, with_crc(broken)))


def test_a_message_without_a_key_is_damage(tmp_path):
    path = segment(tmp_path, message(0, 1, value()))
    found, walk = read(path)
    assert (found, len(walk.damage)) == ([], 1)
