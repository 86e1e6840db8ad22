"""Offset commits as the offsets decoders of all eras print them."""

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.offsets import OffsetCommit, offset_rows
from tests.text.dump.comparing import whole

FLAT = (
    "offset: 5 position: 0 CreateTime: 11 isvalid: true keysize: {} valuesize: 28 magic: 2 compresscodec: NONE "
    "producerId: 3 producerEpoch: 1 sequence: 0 isTransactional: true headerKeys: [] key: "
)
BELOW = "| offset: 5 CreateTime: 11 keysize: {} valuesize: 28 sequence: 0 headerKeys: [] key: "


@pytest.fixture
def read(tmp_path):
    def reader(line: str):
        path = tmp_path / "offsets.txt"
        path.write_text(f"{line}\n")
        with OpenFile(str(path)) as file:
            return list(offset_rows(file, whole(file, "__consumer_offsets")))

    return reader


def key_size(group: str, topic: str) -> int:
    return 2 + 2 + len(group.encode()) + 2 + len(topic.encode()) + 4


GROUPS = ("g", "a:b:c", "x,partition=t-0", "x payload: offset=9", "\u65e5\u672c", "a::b")


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("partition", [0, 49])
def test_commits_of_the_first_releases(group, partition, read):
    line = FLAT.format(key_size(group, "my-topic")) + f"offset::{group}:my-topic:{partition} payload: 17:note: x"
    assert read(line) == [
        OffsetCommit(
            group, "my-topic", partition, 5, 11, 1, 0, committed_offset=17, metadata="note: x", producer_id=3,
            producer_epoch=1, is_transactional=True,
        )
    ]  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("payload", ["offset=17", "offset=17,metadata=a,partition=z-1 payload: offset=3", "<DELETE>"])
def test_commits_of_2_4_to_3_7(group, payload, read):
    line = BELOW.format(key_size(group, "t")) + f"offset_commit::group={group},partition=t-7 payload: {payload}"
    (found,) = read(line)
    assert (found.group, found.topic, found.partition) == (group, "t", 7)
    assert found.is_tombstone == (payload == "<DELETE>")
    assert found.committed_offset == (None if found.is_tombstone else 17)
    assert found.metadata == (payload.partition("metadata=")[2] or None)
    assert found.producer_id is None


def test_commits_of_3_8(read):
    line = (
        BELOW.format(20) + '{"type":"1","data":{"group":"a\\"b","topic":"t","partition":0}} payload: '
        '{"version":"3","data":{"offset":2,"leaderEpoch":4,"metadata":"m","commitTimestamp":9}}'
    )
    (found,) = read(line)
    assert (found.group, found.committed_offset, found.leader_epoch, found.committed_at) == ('a"b', 2, 4, 9)


@pytest.mark.parametrize(
    "contents",
    [
        "Unknown record type 99 at offset 5, skipping.",
        "offset::g:t:0 payload: what",
        '{"type":"1","data":{}} payload: {}',
        '{"type":"1"',
        '{"type":"1","data":{"group":"g","topic":"t","partition":"x"}} payload: <DELETE>',
        '{"metadata":',
        "metadata::my group payload: consumer:range:1:{a=[t-0]}",
        '{"metadata":"my group"} payload: <DELETE>',
        "group_metadata::group=my group payload: <DELETE>",
        '{"type":"2","data":{"group":"my group"}} payload: <DELETE>',
        '{"type":"5","data":{"groupId":"g","memberId":"m"}} payload: {"version":"0"}',
    ],
)
def test_what_is_no_commit_is_passed_over(contents, read):
    assert read(BELOW.format(9) + contents) == []
