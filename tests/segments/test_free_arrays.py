"""Memory is used again by the thread that had it, and by nobody while a view of it is held."""

import threading

from kafkatx.segments import batches as walks
from kafkatx.segments.batches import SegmentWalk
from kafkatx.segments.free_arrays import MOST_OF_A_SIZE, lent
from kafkatx.sources.files import OpenFile
from tests.building import batch, segment

SIZE = 12_345


def address(array):
    return array.__array_interface__["data"][0]


def test_an_array_is_lent_again_when_nobody_holds_a_view_of_it():
    array = lent(SIZE)
    first, view = address(array), array.data[5:9]
    del array
    assert address(lent(SIZE)) != first
    del view
    assert address(lent(SIZE)) == first


def test_more_than_a_few_are_made_and_forgotten():
    held = [lent(SIZE + 1) for _ in range(MOST_OF_A_SIZE + 3)]
    assert len({address(array) for array in held}) == len(held)
    kept = {address(array) for array in held[:MOST_OF_A_SIZE]}
    del held
    assert address(lent(SIZE + 1)) in kept


def test_no_thread_is_lent_what_another_one_had():
    array = lent(SIZE + 2)
    mine, theirs = address(array), []
    del array
    thread = threading.Thread(target=lambda: theirs.append(address(lent(SIZE + 2))))
    thread.start()
    thread.join()
    assert address(lent(SIZE + 2)) == mine
    assert theirs != [mine]


def test_what_a_walk_showed_last_stays_while_it_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(walks, "BUFFER_SIZE", 1000)
    shown = []
    for at in (0, 1):
        path = segment(tmp_path, [batch(number, bytes([65 + at]) * 300) for number in range(9)], f"{at}.log")
        with OpenFile(str(path)) as file:
            shown.append([chunk.data for chunk in SegmentWalk(file, bodies=True).chunks()][-1])
    assert [(b"A" * 300 in bytes(data), b"B" * 300 in bytes(data)) for data in shown] == [(True, False), (False, True)]
