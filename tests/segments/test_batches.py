import errno
import os
from random import Random

import pytest

from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL, CHECK_NONE
from kafkatx.segments import batches as walks
from kafkatx.segments import damage as damages
from kafkatx.segments.batches import SegmentWalk
from kafkatx.sources.files import OpenFile
from tests.building import batch, data_batch, marker, message, segment, with_crc
from tests.evidence import fixtures

SMALL = "00000000000000000000.log"


class Read:
    """What a walk over a file found."""

    def __init__(self, path, **options):
        with OpenFile(str(path)) as file:
            self.walk = SegmentWalk(file, **({"check": CHECK_ALL} | options))
            self.chunks = [(chunk.rows, bytes(chunk.data), chunk.data_position) for chunk in self.walk.chunks()]
        self.rows = [row for rows, _, _ in self.chunks for row in rows]
        self.offsets = [int(row["base_offset"]) for row in self.rows]
        self.damage = [(damage.kind, damage.position, damage.bytes) for damage in self.walk.damage]

    def accounted(self):
        read = sum(int(row["size"]) for row in self.rows)
        return read + sum(size for _, _, size in self.damage) + self.walk.preallocated


def a_log(count=6):
    """Batches of one producer, and the positions they begin at."""
    made = [data_batch(number, 7, bytes([65 + number]) * 20, base_sequence=number) for number in range(count)]
    return made, [sum(map(len, made[:number])) for number in range(count + 1)]


def flipped(data, at, bits=0x40):
    return data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]


def small_recorded_file():
    path = min(
        (path for path in fixtures().glob("*/broker-*/*/*.log") if path.stat().st_size > 300),
        key=lambda path: (path.stat().st_size, path),
    )
    return path.read_bytes()


def test_a_file_cut_at_any_byte_yields_what_is_whole_and_says_what_is_not(engine, tmp_path):
    data = small_recorded_file()
    whole = Read(segment(tmp_path, data))
    ends = {0} | {int(row["position"] + row["size"]) for row in whole.rows}
    assert max(ends) == len(data)
    for size in range(len(data)):
        read = Read(segment(tmp_path, data[:size]))
        assert read.rows == whole.rows[: len(read.rows)]
        last = max(end for end in ends if end <= size)
        assert read.walk.torn is any(data[last:size])
        assert read.damage == ([("torn", last, size - last)] if read.walk.torn else [])
        assert read.accounted() == size


def test_zeros_behind_the_last_batch_are_preallocated_and_no_damage(engine, tmp_path):
    made, ends = a_log(2)
    for zeros in (1, 16, 17, 18, 40, 61, 5000):
        read = Read(segment(tmp_path, b"".join(made) + bytes(zeros)))
        assert (read.offsets, read.damage, read.walk.torn) == ([0, 1], [], False)
        assert (read.walk.preallocated, read.walk.end) == (zeros, ends[2])
    assert Read(segment(tmp_path, bytes(5000))).walk.preallocated == 5000


def test_an_empty_file_is_whole(engine, tmp_path):
    read = Read(segment(tmp_path, b""))
    assert (read.rows, read.damage, read.walk.torn) == ([], [], False)


def test_a_batch_torn_inside_preallocated_zeros_is_damage_and_the_zeros_are_not(engine, tmp_path):
    made, ends = a_log(2)
    torn = b"".join(made)[: ends[1] + 70]
    read = Read(segment(tmp_path, torn + bytes(ends[2] - len(torn) + 1000)))
    assert (read.offsets, read.damage) == ([0], [("crc", ends[1], ends[2] - ends[1])])
    assert read.walk.preallocated == 1000


@pytest.mark.parametrize("checked", [CHECK_CONTROL, CHECK_ALL])
@pytest.mark.parametrize("behind", [0, 2], ids=["last", "within"])
def test_zeros_from_within_a_header_on_never_read_as_an_old_message(engine, tmp_path, behind, checked):
    """A power cut: what the header says before them stands, and its magic reads 0."""
    made, ends = a_log(3 + behind)
    for at in range(12, 61):
        data = b"".join(made[:2]) + made[2][:at] + bytes(len(made[2]) - at) + b"".join(made[3:])
        read = Read(segment(tmp_path, data), check=checked)
        assert read.offsets == [0, 1, *range(3, 3 + behind)], at
        assert [damage[1:] for damage in read.damage] == [(ends[2], ends[3] - ends[2])]


def test_a_message_of_an_old_log_whose_crc_was_zeroed_is_damage(engine, tmp_path):
    made = [message(number, 1) for number in range(4)]
    data = b"".join(made[:2]) + made[2][:12] + bytes(4) + made[2][16:] + made[3]
    read = Read(segment(tmp_path, data), check=CHECK_CONTROL)
    assert (read.offsets, [kind for kind, _, _ in read.damage]) == ([0, 1, 3], ["crc"])


@pytest.mark.skipif(not hasattr(os, "SEEK_DATA"), reason="this system tells no holes")
def test_a_hole_of_a_terabyte_is_not_read(engine, tmp_path):
    made, ends = a_log(2)
    path = segment(tmp_path, b"".join(made))
    os.truncate(path, 1 << 40)
    read = Read(path)
    assert (read.offsets, read.damage, read.walk.preallocated) == ([0, 1], [], (1 << 40) - ends[2])


@pytest.mark.parametrize("buffer_size", [100, 4096])
def test_a_flipped_bit_anywhere_costs_its_batch_alone(engine, tmp_path, monkeypatch, buffer_size):
    monkeypatch.setattr(walks, "BUFFER_SIZE", buffer_size)
    made, ends = a_log(4)
    data = b"".join(made)
    for at in range(ends[1], ends[2]):
        for bit in range(8):
            read = Read(segment(tmp_path, flipped(data, at, 1 << bit)))
            assert read.offsets == [0, 2, 3], (at - ends[1], bit)
            assert [damage[1:] for damage in read.damage] == [(ends[1], ends[2] - ends[1])]
            assert read.accounted() == len(data)


def test_an_offset_that_is_wrong_but_fits_costs_no_neighbour(engine, tmp_path):
    made, _ = a_log(3)
    far = [made[0], data_batch(8, 7), data_batch(9, 7), data_batch(12, 7)]
    assert Read(segment(tmp_path, far)).offsets == [0, 8, 9, 12]
    lower = [*far[:2], data_batch(4, 7), far[3]]
    assert Read(segment(tmp_path, lower)).offsets == [0, 8, 12]


@pytest.mark.parametrize("check", [CHECK_NONE, CHECK_CONTROL, CHECK_ALL])
@pytest.mark.parametrize("length", [0, 1, 48, 49, 60, 100, 2**31 - 1, -1, -(2**31)])
def test_a_broken_length_field_costs_its_batch_alone(engine, tmp_path, check, length):
    made, ends = a_log(5)
    made[2] = made[2][:8] + length.to_bytes(4, "big", signed=True) + made[2][12:]
    read = Read(segment(tmp_path, made), check=check)
    assert read.offsets == [0, 1, 3, 4]
    assert [damage[1:] for damage in read.damage] == [(ends[2], ends[3] - ends[2])]


def test_a_hole_of_zeros_costs_what_it_covers(engine, tmp_path):
    made, ends = a_log(6)
    data = bytearray(b"".join(made))
    data[ends[1] + 30 : ends[3] + 30] = bytes(ends[2] + 0 - ends[0])
    read = Read(segment(tmp_path, bytes(data)))
    assert read.offsets == [0, 4, 5]
    assert sum(size for _, _, size in read.damage) == ends[4] - ends[1]


def test_what_lies_between_two_holes_is_not_lost(engine, tmp_path):
    made, ends = a_log(9)
    data = bytearray(b"".join(made))
    for number in (2, 6):
        data[ends[number] : ends[number] + 70] = bytes(70)
    read = Read(segment(tmp_path, bytes(data)))
    assert read.offsets == [0, 1, 3, 4, 5, 7, 8]
    assert [position for _, position, _ in read.damage] == [ends[2], ends[6]]


def test_batches_below_the_name_are_no_batches_of_this_segment(engine, tmp_path):
    made, ends = a_log(4)
    path = segment(tmp_path, made)
    assert Read(path, first_offset=0, offset_limit=4).offsets == [0, 1, 2, 3]
    below = Read(path, first_offset=2)
    assert (below.offsets, below.damage) == ([2, 3], [("header", 0, ends[2])])


def test_batches_above_the_next_segment_are_believed_only_where_they_follow_whole(engine, tmp_path):
    made, ends = a_log(4)
    overlapping = Read(segment(tmp_path, made), offset_limit=2)
    assert (overlapping.offsets, overlapping.damage) == ([0, 1, 2, 3], [])
    made[2] = made[2][:-1] + bytes([made[2][-1] ^ 1])
    broken = Read(segment(tmp_path, made), offset_limit=2)
    assert (broken.offsets, broken.damage) == ([0, 1], [("header", ends[2], ends[4] - ends[2])])


def nested(inner, outer_offset, count=2):
    """A batch whose only value is a chain of whole batches."""
    fields = {"last_offset_delta": 9, "producer_id": 9, "producer_epoch": 0, "base_sequence": 0}
    return batch(outer_offset, b"prefix", b"".join(inner) + b"suffix", **fields)


def a_log_with_batches_in_a_payload(inner_count):
    inner = [data_batch(11 + number // 100, 666, b"forged") for number in range(inner_count)]
    inner = [batch(11 + number, b"forged", producer_id=666) for number in range(inner_count)]
    made = [
        data_batch(10, 7),
        nested(inner, 11),
        data_batch(400, 7, base_sequence=1),
        data_batch(401, 7, base_sequence=2),
    ]
    return made, [sum(map(len, made[:number])) for number in range(5)]


@pytest.mark.parametrize("inner_count", [1, 3, 100])
@pytest.mark.parametrize("field", ["crc", "length", "larger length", "whole header", "body", "offset"])
def test_batches_in_a_payload_are_never_taken_for_the_log(engine, tmp_path, inner_count, field):
    made, ends = a_log_with_batches_in_a_payload(inner_count)
    outer = made[1]
    made[1] = {
        "crc": flipped(outer, 17),
        "length": outer[:8] + (75).to_bytes(4, "big") + outer[12:],
        "larger length": outer[:8] + (1 << 30).to_bytes(4, "big") + outer[12:],
        "whole header": b"\xff" * 61 + outer[61:],
        "body": flipped(outer, len(outer) - 3),
        "offset": b"\0" * 8 + outer[8:],
    }[field]
    read = Read(segment(tmp_path, made))
    assert read.offsets == [10, 400, 401]
    assert [damage[1:] for damage in read.damage] == [(ends[1], ends[2] - ends[1])]


def test_batches_in_a_torn_payload_are_never_taken_for_the_log(engine, tmp_path):
    made, ends = a_log_with_batches_in_a_payload(5)
    data = b"".join(made)
    for size in range(ends[1] + 8, ends[2]):
        read = Read(segment(tmp_path, data[:size]))
        assert (read.offsets, read.damage) == ([10], [("torn", ends[1], size - ends[1])])


def test_two_damaged_batches_with_batches_in_their_payloads_are_both_stepped_over(engine, tmp_path):
    made, ends = a_log_with_batches_in_a_payload(3)
    inner = [batch(500 + number, b"forged") for number in range(3)]
    made = [made[0], flipped(made[1], 18), flipped(nested(inner, 402), 18), data_batch(600, 7)]
    read = Read(segment(tmp_path, made))
    assert read.offsets == [10, 600]
    assert [damage[:2] for damage in read.damage] == [("crc", ends[1]), ("crc", ends[2])]


@pytest.mark.parametrize("magic", [0, 1])
def test_damage_between_old_messages_costs_its_message_alone(engine, tmp_path, magic):
    made = [message(number, magic, b"v" * number) for number in range(1, 6)]
    made[2] = made[2][:8] + b"\x7f\xff\xff\xff" + made[2][12:]
    assert Read(segment(tmp_path, made)).offsets == [1, 2, 4, 5]


def test_messages_of_all_formats_stand_in_one_file(engine, tmp_path):
    made = [message(1, 0), message(2, 1), data_batch(3, 7), marker(4, 7)]
    read = Read(segment(tmp_path, made))
    assert ([int(row["magic"]) for row in read.rows], read.damage) == ([0, 1, 2, 2], [])


@pytest.mark.parametrize("buffer_size", [1, 61, 62, 78, 100, 333])
@pytest.mark.parametrize("bodies", [False, True])
def test_the_size_of_the_buffer_changes_nothing(engine, tmp_path, monkeypatch, buffer_size, bodies):
    made = [*a_log(3)[0], batch(3, b"x" * 500), marker(4, 7), batch(5, b"y" * 90), batch(6, b"z")]
    for broken in (False, True):
        data = flipped(b"".join(made), sum(map(len, made[:3])) + 300) if broken else b"".join(made)
        path = segment(tmp_path, data)
        for check in (CHECK_ALL, CHECK_CONTROL):
            expected = Read(path, check=check)
            with monkeypatch.context() as patch:
                patch.setattr(walks, "BUFFER_SIZE", buffer_size)
                read = Read(path, bodies=bodies, check=check)
                assert read.offsets == expected.offsets
                assert read.damage == expected.damage
                for rows, chunk, position in read.chunks if bodies else ():
                    for row in rows:
                        start = int(row["position"]) - position
                        assert chunk[start : start + int(row["size"])] == data[row["position"] :][: row["size"]]


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("control", [False, True])
@pytest.mark.parametrize("check", [CHECK_ALL, CHECK_CONTROL])
def test_a_batch_larger_than_any_buffer_has_its_crc_taken_in_pieces(
    engine, tmp_path, monkeypatch, broken, control, check
):
    monkeypatch.setattr(walks, "BUFFER_SIZE", 64)
    monkeypatch.setattr(walks, "LARGEST_BUFFER", 128)
    large = batch(1, b"x" * 1000, attributes=0x30 if control else 0, producer_id=5)
    made = [data_batch(0, 7), flipped(large, 300) if broken else large, flipped(data_batch(2, 7), 70), data_batch(3, 7)]
    read = Read(segment(tmp_path, made), check=check)
    assert read.offsets == ([0, 3] if broken else [0, 1, 3])
    assert len(read.damage) == 1 + broken


def test_a_file_that_shrinks_while_it_is_read_ends_there(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(walks, "BUFFER_SIZE", 200)
    made, ends = a_log(9)
    for size in (ends[5], ends[5] + 30, 0):
        path = segment(tmp_path, made)
        with OpenFile(str(path)) as file:
            walk, offsets = SegmentWalk(file, check=CHECK_ALL), []
            for chunk in walk.chunks():
                offsets += chunk.rows["base_offset"].tolist()
                os.truncate(path, size)
        assert offsets == list(range(len(offsets)))
        assert len(offsets) <= max(5, 200 // len(made[0]) + 1)


def test_what_is_appended_while_a_file_is_read_is_left_alone(engine, tmp_path):
    made, _ = a_log(4)
    path = segment(tmp_path, made[:2])
    with OpenFile(str(path)) as file:
        walk = SegmentWalk(file, check=CHECK_ALL)
        with path.open("ab") as growing:
            growing.write(b"".join(made[2:]))
        assert [offset for chunk in walk.chunks() for offset in chunk.rows["base_offset"].tolist()] == [0, 1]
        assert (walk.damage, walk.torn) == ([], False)


def test_a_sector_that_the_disk_refuses_is_damage_and_the_rest_is_read(engine, tmp_path, monkeypatch):
    made = [data_batch(number, 7, b"x" * 1500, base_sequence=number) for number in range(12)]
    path = segment(tmp_path, made)
    preadv = os.preadv

    def refuse(descriptor, buffers, position):
        if position <= 8192 < position + len(buffers[0]) or 8192 <= position < 12288:
            if position < 8192:
                return preadv(descriptor, [buffers[0][: 8192 - position]], position)
            raise OSError(errno.EIO, "Input/output error")
        return preadv(descriptor, buffers, position)

    monkeypatch.setattr(os, "preadv", refuse)
    read = Read(path)
    assert {kind for kind, _, _ in read.damage} == {"unreadable"}
    assert read.walk.damage[0].found == "Input/output error"
    assert read.offsets == [0, 1, 2, 3, 4, 8, 9, 10, 11]


def test_a_file_of_nothing_but_damage_keeps_a_bounded_list(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(damages, "MOST_DAMAGE", 5)
    made = [flipped(data_batch(number, 7), 70) for number in range(50)]
    read = Read(segment(tmp_path, made))
    assert (read.offsets, len(read.damage)) == ([], 5)
    assert sum(size for _, _, size in read.damage) == sum(map(len, made))


def test_a_payload_full_of_headers_does_not_make_the_search_endless(engine, tmp_path, monkeypatch):
    from kafkatx.segments import resync

    monkeypatch.setattr(resync, "LEAST_WORK", 1 << 20)
    headers = b"".join(batch(number, b"x", batch_length=100_000)[:61] for number in range(1, 3000))
    read = Read(segment(tmp_path, data_batch(0, 7) + b"\xff" * 70 + headers + bytes(100_000) + b"\1"))
    assert read.offsets == [0]
    assert len(read.damage) == 1


def test_a_crc_that_was_made_for_other_bytes_is_what_with_crc_repairs(tmp_path):
    broken = flipped(data_batch(0, 7), 70)
    assert Read(segment(tmp_path, broken)).offsets == []
    assert Read(segment(tmp_path, with_crc(broken))).offsets == [0]


@pytest.mark.parametrize("check", [CHECK_CONTROL, CHECK_ALL])
def test_many_wrong_headers_between_payloads_of_noise_cost_their_batches_alone(engine, tmp_path, check):
    for seed in range(5):
        noise = Random(seed)
        made = [batch(number, noise.randbytes(300)) for number in range(300)]
        wrong = set(range(5, 300, 10))
        for number in wrong:
            made[number] = flipped(made[number], 8 + noise.randrange(50))
        read = Read(segment(tmp_path, made), check=check)
        assert set(range(300)) - wrong <= set(read.offsets)
        assert read.accounted() == sum(map(len, made))
        assert read.offsets == sorted(read.offsets)
