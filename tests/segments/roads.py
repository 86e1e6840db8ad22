"""The two roads of a walk, by steps and by blocks, of files of any size and batches of any size."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafkatx.segments import batches as walks
from kafkatx.segments import stepping


@contextmanager
def by_steps(buffer_bytes: int = 100) -> Iterator[list[tuple[int, int]]]:
    """Steps wherever bodies are not asked for, behind a first block of `buffer_bytes`, or of one batch.

    Yields where steps began and ended.
    """
    taken: list[tuple[int, int]] = []
    walk = stepping.Steps.walk

    def noted(steps, buffer, position, *others):
        found = walk(steps, buffer, position, *others)
        taken.append((position, found[1]))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepping, "WORTH_A_STEP", 1)
        patch.setattr(stepping.Steps, "are_cheap", True)
        patch.setattr(stepping.Steps, "walk", noted)
        patch.setattr(walks, "BUFFER_SIZE", buffer_bytes)
        yield taken


@contextmanager
def by_blocks() -> Iterator[None]:
    """No steps, as of a system that does not tell what it has at hand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepping, "address_of_preadv2", lambda: 0)
        yield
