"""Tasks that run ahead: their items, their errors and their ends are those of generators that nobody runs ahead."""

import threading
import time
from contextvars import ContextVar
from itertools import chain, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.sources.ahead import MOST_ITEMS, Ahead
from kafkatx.sources.files import was_read

WAIT_S = 10


class Wrong(Exception):
    """What a task raises."""


def counted(count, error=None):
    yield from range(count)
    if error is not None:
        raise error


def taken(ahead, task, made):
    return list(ahead.here(made()) if task.claim() else task.items())


def until(condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@given(st.integers(0, 3), st.lists(st.integers(0, 3 * MOST_ITEMS), max_size=20), st.randoms())
def test_items_come_in_order_whatever_the_order_of_asking(threads, counts, chance):
    with Ahead(threads) as ahead:
        made = [lambda count=count: counted(count) for count in counts]
        tasks = [ahead.task(one) for one in made]
        asked = list(range(len(tasks)))
        chance.shuffle(asked)
        found = {number: taken(ahead, tasks[number], made[number]) for number in asked}
    assert found == {number: list(range(count)) for number, count in enumerate(counts)}
    assert not any(thread.is_alive() for thread in ahead._threads)


def test_tasks_that_are_asked_for_side_by_side_never_wait_for_each_other():
    with Ahead(2) as ahead:
        made = [lambda: counted(100)] * 12
        tasks = [ahead.task(one) for one in made]
        until(lambda: sum(task.is_claimed for task in tasks) == 2)
        running = [ahead.here(one()) if task.claim() else task.items() for task, one in zip(tasks, made, strict=True)]
        assert [[next(one) for one in running] for _ in range(100)] == [[number] * 12 for number in range(100)]


def test_no_more_is_made_than_can_wait():
    made = []

    def counting():
        for number in range(1000):
            made.append(number)
            yield number

    with Ahead(2) as ahead:
        tasks = [ahead.task(counting) for _ in range(20)]
        until(lambda: len(made) >= 2 * (MOST_ITEMS + 1))
        time.sleep(0.05)
        assert len(made) == 2 * (MOST_ITEMS + 1)
        assert sum(task.is_claimed for task in tasks) == 2


def test_short_tasks_that_nobody_takes_are_bounded_too():
    with Ahead(2) as ahead:
        tasks = [ahead.task(lambda: counted(1)) for _ in range(50)]
        until(lambda: sum(task.is_claimed for task in tasks) == 4)
        time.sleep(0.05)
        assert sum(task.is_claimed for task in tasks) == 4
        assert [taken(ahead, task, lambda: counted(1)) for task in tasks] == [[0]] * 50


@pytest.mark.parametrize("threads", [0, 1, 2])
def test_an_error_comes_where_its_item_would_have_come(threads):
    error = Wrong("of the third task")
    with Ahead(threads) as ahead:
        made = [lambda wrong=wrong: counted(6, wrong) for wrong in (None, None, error, None)]
        tasks = [ahead.task(one) for one in made]
        items = chain.from_iterable(
            ahead.here(one()) if task.claim() else task.items() for task, one in zip(tasks, made, strict=True)
        )
        assert [*islice(items, 18)] == [*range(6)] * 3
        with pytest.raises(Wrong) as raised:
            next(items)
        assert raised.value is error
    assert not any(thread.is_alive() for thread in ahead._threads)


def test_an_error_that_nobody_asks_for_is_none():
    with Ahead(1) as ahead:
        task = ahead.task(lambda: counted(0, Wrong()))
        until(lambda: not task.is_held)
        task.drop()


@pytest.mark.parametrize("error", [KeyboardInterrupt, Wrong, GeneratorExit])
def test_what_ends_the_reading_ends_the_threads(error):
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield 0
        finally:
            closed.set()

    def read(ahead):
        tasks = [ahead.task(endless) for _ in range(5)]
        until(lambda: sum(task.is_claimed for task in tasks) == 2)
        next(tasks[0].items())
        raise error

    with pytest.raises(error), Ahead(2) as ahead:
        read(ahead)
    assert closed.wait(WAIT_S)
    assert not any(thread.is_alive() for thread in ahead._threads)


def test_a_task_that_nobody_wants_ends_at_its_next_read():
    reads = []

    def reading():
        for position in range(1_000_000):
            reads.append(position)
            was_read("file", position, position + 1)
            time.sleep(0.001)
        yield 0

    with Ahead(1) as ahead:
        ahead.task(reading)
        until(lambda: reads)
    assert len(reads) < 1_000_000


@pytest.mark.parametrize("threads", [0, 1])
def test_tasks_see_what_who_planned_them_sees(threads):
    seen = ContextVar("seen", default="nothing")

    def looking():
        yield seen.get()

    token = seen.set("this")
    try:
        with Ahead(threads) as ahead:
            task = ahead.task(looking)
            until(lambda: task.is_claimed or not threads)
            assert taken(ahead, task, looking) == ["this"]
    finally:
        seen.reset(token)


def test_without_threads_nothing_is_planned():
    with Ahead(0) as ahead:
        tasks = [ahead.task(lambda: counted(3)) for _ in range(3)]
        assert [task.claim() for task in tasks] == [True] * 3
        assert ahead.has_enough
        assert list(ahead.in_order(range(3), str)) == ["0", "1", "2"]
        looked_at = []
        next(ahead.in_order(range(3), looked_at.append))
        assert looked_at == [0]
