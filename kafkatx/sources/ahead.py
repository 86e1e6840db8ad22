"""Work that is begun before it is asked for, by threads on the other cores, and handed over in the order of asking.

Order     a task's items come in their order, tasks are asked for in any: who asks waits for no other task than his. A
          task that nobody has begun is done by who asks for it, so no order of asking can stand still.
Bounds    so many tasks are begun and not yet taken whole, and each waits with so many items that nobody has taken.
Errors    what a task raises is raised where its item would have come; what nobody asks for raises nothing.
Threads   share what is read of the files with who asks, at no cost, and end with the process. They gain where time goes
          into what releases Python's lock: reads, compiled kernels, decompression, numpy over large arrays.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context, copy_context
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from kafkatx.sources.files import observed

S = TypeVar("S")
T = TypeVar("T")

MOST_ITEMS = 4
"""Items of a task that wait to be taken."""


class _NotWanted(Exception):
    """Nobody wants what a task would yield."""


class Task(Generic[T]):
    """One generator, run ahead or by who asks for its items."""

    def __init__(self, make: Callable[[], Iterator[T]], changed: threading.Condition) -> None:
        self._make, self._changed = make, changed
        self._items: deque[T] = deque()
        self._error: BaseException | None = None
        self._is_over = self._is_dropped = False
        self.is_claimed = False

    def claim(self) -> bool:
        """Take the task on oneself; False where it is begun already: then `items` has what it yields."""
        with self._changed:
            mine, self.is_claimed = not self.is_claimed, True
        return mine

    def items(self) -> Iterator[T]:
        """Yield what a task that runs ahead yields; raises what it raises."""
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._items or self._is_over)
                    if not self._items:
                        break
                    item = self._items.popleft()
                    self._changed.notify_all()
                yield item
            if self._error is not None:
                raise self._error
        finally:
            self.drop()

    def drop(self) -> None:
        """Give up what is left of it."""
        with self._changed:
            self._is_dropped = self.is_claimed = True
            self._items.clear()
            self._changed.notify_all()

    def check(self, *read: Any) -> None:
        """Leave the task where nobody wants it any more: it is asked at each read of a file."""
        if self._is_dropped:
            raise _NotWanted

    def fill(self) -> None:
        """Run the generator, in a thread."""
        try:
            with observed(self.check):
                for item in self._make():
                    self._hand_over(item)
        except _NotWanted:
            pass
        except BaseException as error:
            self._error = error
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def _hand_over(self, item: T) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._items) < MOST_ITEMS or self._is_dropped)
            self.check()
            self._items.append(item)
            self._changed.notify_all()

    @property
    def is_held(self) -> bool:
        """Whether it may hold items, or make them."""
        return not self._is_over or bool(self._items)


class Ahead:
    """Threads that run tasks ahead, in the order in which they are planned; a context manager that ends them.

    Without threads nothing is done ahead.
    """

    def __init__(self, threads: int) -> None:
        self._changed = threading.Condition()
        self._planned: deque[Task[Any]] = deque()
        self._begun: list[Task[Any]] = []
        self._is_closed = False
        self._most = 2 * threads
        self._context: Context = copy_context()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]

    @property
    def is_parallel(self) -> bool:
        """Whether there are threads."""
        return bool(self._threads)

    @property
    def has_enough(self) -> bool:
        """Whether more is planned than can be begun: without threads nothing need be planned."""
        return len(self._planned) > self._most or not self._threads

    def task(self, make: Callable[[], Iterator[T]]) -> Task[T]:
        """Plan a task behind those that are planned."""
        task = Task(make, self._changed)
        if self._threads:
            with self._changed:
                self._planned.append(task)
                self._changed.notify_all()
        return task

    def in_order(self, things: Iterable[S], plan: Callable[[S], T]) -> Iterator[T]:
        """Plan of some things as many ahead as there is room for; yields what `plan` makes of each, in order."""
        waiting: deque[T] = deque()
        for thing in things:
            waiting.append(plan(thing))
            if self.has_enough:
                yield waiting.popleft()
        yield from waiting

    def here(self, items: Iterator[T]) -> Iterator[T]:
        """Run a generator as a thread would, but now: in the same context."""
        if not self._threads:
            yield from items
            return
        context, end = self._context.copy(), object()
        while (item := context.run(next, items, end)) is not end:
            yield item  # type: ignore[misc]

    def _work(self) -> None:
        while (task := self._next()) is not None:
            self._context.copy().run(task.fill)

    def _next(self) -> Task[Any] | None:
        with self._changed:
            while True:
                self._changed.wait_for(self._may_go_on)
                if self._is_closed:
                    return None
                task = self._planned.popleft()
                if not task.is_claimed:
                    task.is_claimed = True
                    self._begun.append(task)
                    return task

    def _may_go_on(self) -> bool:
        self._begun = [task for task in self._begun if task.is_held]
        return self._is_closed or (bool(self._planned) and len(self._begun) < self._most)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._is_closed = True
            for task in self._begun:
                task.drop()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
