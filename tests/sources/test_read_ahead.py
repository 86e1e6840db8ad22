import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.sources import read_ahead
from kafkatx.sources.files import OpenFile
from kafkatx.sources.read_ahead import ReadAhead

CONTENT = os.urandom(5000)


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("read-ahead") / "file"
    file.write_bytes(CONTENT)
    return file


@pytest.fixture(params=["direct", "threaded"], autouse=True, scope="module")
def way(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_ahead, "READ_AHEAD_ABOVE", 0 if request.param == "threaded" else 1 << 40)
        patch.setattr(read_ahead, "HEADROOM", 64)
        yield request.param


def in_steps(path: Path, size: int, steps: list[int]) -> None:
    """Walk forward; each step leaves some bytes of a piece unread, which the next piece must begin with."""
    with OpenFile(str(path)) as file:
        reader, position = ReadAhead(file, size), 0
        for step in steps:
            piece = bytes(reader.fill(position))
            assert piece == CONTENT[position : position + len(piece)]
            assert len(piece) >= min(size, len(CONTENT) - position)
            position = max(0, min(position + len(piece) - step, len(CONTENT)))
        reader.close()


@given(size=st.integers(1, 700), steps=st.lists(st.integers(0, 100), min_size=1, max_size=20))
def test_a_walk_forward_sees_every_byte_at_its_place(path, size, steps):
    in_steps(path, size, steps)


@given(size=st.integers(1, 700), positions=st.lists(st.integers(0, 5000), min_size=1, max_size=20))
def test_any_jump_is_served(path, size, positions):
    with OpenFile(str(path)) as file:
        reader = ReadAhead(file, size)
        for position in positions:
            piece = bytes(reader.fill(position))
            assert piece == CONTENT[position : position + len(piece)]
            assert len(piece) >= min(size, len(CONTENT) - position)
        reader.close()


def test_a_larger_piece_can_be_asked_for(path):
    with OpenFile(str(path)) as file:
        reader = ReadAhead(file, 10)
        reader.fill(0)
        reader.grow(3000)
        assert bytes(reader.fill(1)) == CONTENT[1:3001]
        reader.close()


def test_a_file_that_shrinks_ends_early(tmp_path):
    file = tmp_path / "shrinking"
    file.write_bytes(CONTENT)
    with OpenFile(str(file)) as opened:
        reader = ReadAhead(opened, 1000)
        assert len(reader.fill(0)) == 1000
        os.truncate(file, 500)
        reader.fill(1000)
        assert bytes(reader.fill(2000)) == b""
        reader.close()
