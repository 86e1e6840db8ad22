"""A page of one partition's dump in which an unstable transactional.id would look like this, and so would others.

Two producer ids at epoch 0 write the same partition, the first one's transaction is open while the second one commits:
a restart under a stable id would have kept the producer id and raised the epoch. Two independent applications look the
same, so this is never more than possible; it is said where a page is all there is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.story import Horizon, Story
from kafkatx.kernels.spans import OPEN
from kafkatx.rules.finding import Finding
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Considered, Remedy, Step
from kafkatx.words.places import data_place, marker_place, time_or_none


def found_in_pages(story: Story, rule: str) -> Iterator[Finding]:
    """One finding a partition of which a printed dump is all there is."""
    for horizon in story.horizons.values() if not story.state_horizons else ():
        if horizon.is_printed and horizon.topic not in INTERNAL:
            yield from _of_partition(story, rule, horizon)


def _of_partition(story: Story, rule: str, horizon: Horizon) -> Iterator[Finding]:
    spans = story.spans[story.spans_of(horizon.partition_code)]
    fresh = spans[(spans["producer_epoch"] == 0) & (spans["records"] > 0)]
    left = fresh[(fresh["flags"] & OPEN) != 0]
    if not len(left):
        return
    old = left[np.argmin(left["first_offset"])]
    after = fresh[(fresh["first_offset"] > old["first_offset"]) & (fresh["producer_id"] != old["producer_id"])]
    after = after[after["marker_kind"] == 1]
    if not len(after):
        return
    new, one, other = after[0], int(old["producer_id"]), int(after[0]["producer_id"])
    yield Finding(
        rule=rule,
        verdict=Verdict.possible,
        severity=Severity.info,
        summary=f"producer id {other} at epoch 0 wrote {horizon.topic}-{horizon.partition} while a transaction of "
        f"producer id {one} was open there: if both are one application, its transactional.id changes at every start",
        topic=horizon.topic,
        partition=horizon.partition,
        first_offset=int(old["first_offset"]),
        last_offset=int(new["marker_offset"]),
        since=time_or_none(int(old["first_timestamp"])),
        until=time_or_none(int(new["marker_timestamp"])),
        actors=(Actor("T1", f"producer id {one} epoch 0"), Actor("T2", f"producer id {other} epoch 0")),
        steps=(
            Step("T1 wrote in a transaction that has no end here", "no marker follows", (data_place(story, old),)),
            Step(
                "T2 wrote behind it, under a producer id of its own at epoch 0, and committed",
                "a restart under the same transactional.id keeps the producer id and raises the epoch",
                (data_place(story, new), marker_place(story, new)),
            ),
        ),
        considered=(Considered("independent applications on the same partition", "not refuted: they look the same"),),
        remedies=(
            Remedy(
                "if it is one application, give each instance an id that is the same at its next start",
                "application",
                "transactional.id",
                restart_needed=True,
            ),
        ),
    )
