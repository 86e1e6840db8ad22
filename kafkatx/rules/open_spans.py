"""Data of one producer id without a marker up to the log end, typed: whose they are, and how far the evidence reaches.

What the rules about open data share; whether anybody will end them is for each of them to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kafkatx.histories.ended import known
from kafkatx.histories.story import Horizon, Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import OVER_GAP
from kafkatx.rules.grouping import SpanColumns, columns_of
from kafkatx.words.facts import offsets
from kafkatx.words.places import data_place, latest_row
from kafkatx.words.values import OffsetRange, Refs


@dataclass(frozen=True)
class OpenSpan:
    """A span without a marker, by its number."""

    story: Story
    number: int

    @cached_property
    def span(self) -> Array:
        """Its row."""
        return self.story.spans[self.number]  # type: ignore[no-any-return]

    @property
    def producer_id(self) -> int:
        """Whose data they are, by number."""
        return int(self.span["producer_id"])

    @property
    def horizon(self) -> Horizon:
        """How far its partition's evidence reaches."""
        return self.story.horizons[int(self.span["partition_code"])]

    @property
    def is_over_gap(self) -> bool:
        """Whether a marker may lie where offsets are missing."""
        return bool(self.span["flags"] & OVER_GAP and self.horizon.has_gaps)

    @property
    def transaction(self) -> int | None:
        """The row of the transaction that it belongs to, None where rows tell none or not which."""
        return known(self.story.parts.owner[self.number])

    @property
    def is_disputed(self) -> bool:
        """Whether it may belong to more than one transaction."""
        return bool(self.story.parts.owner[self.number] == -2)

    @cached_property
    def id(self) -> str | None:
        """The transactional.id that had the producer id."""
        return self.story.transactional_id(self._id_code) if self._id_code >= 0 else None

    @cached_property
    def _id_code(self) -> int:
        return self.story.owner_of_producer(self.producer_id)

    @cached_property
    def latest(self) -> Array | None:
        """The latest row of that id."""
        return self.story.latest_of(self._id_code) if self._id_code >= 0 else None

    @property
    def latest_row(self) -> Refs:
        """The same, to be cited."""
        return (latest_row(self.latest),) if self.latest is not None else ()

    @property
    def data(self) -> OffsetRange:
        """Where it lies."""
        return offsets(self.story, self.span)

    @property
    def written(self) -> Refs:
        """A batch of it, to be cited."""
        return (data_place(self.story, self.span),)

    def columns(self) -> SpanColumns:
        """Return the columns that place a case about it."""
        epoch = int(self.span["producer_epoch"])
        return SpanColumns(producer_id=self.producer_id, producer_epoch=epoch, **columns_of(self.data))
