"""Refusals that name no id: the time or people's words decide."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.elapsed import OTHER, TIME_STEPS, TimeFacts, decided_cases, seen_alike
from kafkatx.findings.rule import Case
from kafkatx.findings.told_by_people import TOLD_STEPS, ToldFacts, told_cases
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.words.explanation import Words, included, remedy, ruled_out
from kafkatx.words.template import pick
from kafkatx.words.values import facts


@facts
class FencedByTime(TimeFacts):
    """A refusal that no id is named for, and that the time decides."""


@facts
class FencedAsTold(ToldFacts):
    """A refusal whose cause no line decides, and that people's words do."""


def fenced_by_refusals(model: CaptureModel) -> Iterator[Case]:
    """One case for each of these refusals."""
    yield from decided_cases(model, EndedBy.new_instance, FencedByTime)
    yield from told_cases(model, EndedBy.new_instance, FencedAsTold)


CLOSE = remedy(
    "Close this producer. Let only one producer of each transactional.id run; if a newer instance was meant to take "
    "over, there is nothing to do",
    "application",
)
TIME_WORDS = Words(
    FencedByTime,
    title="fenced by a second instance",
    summary=(
        "The producer was refused {age} after ",
        pick("began", {True: "its transaction began", False: "the transactional.id was granted"}),
        ": no timeout ({timeout}",
        pick("is_set", {True: ""}, ", the default"),
        ") can have passed. A second instance[ {perhaps}] took its transactional.id.",
    ),
    actors=(included("client"),),
    steps=TIME_STEPS,
    considered=(ruled_out("transaction_timed_out", "{age} is less than half the timeout of {timeout}"), OTHER),
    remedies=(CLOSE,),
)

TOLD_WORDS = Words(
    FencedAsTold,
    title="fenced by a second instance",
    summary="The producer[ {name.transactional_id}] was refused with {error}. What is said beside these lines speaks "
    "for a second instance: it[ {perhaps}] took the transactional.id.",
    actors=(included("client"),),
    steps=TOLD_STEPS,
    considered=(seen_alike("transaction_timed_out"), OTHER),
    remedies=(CLOSE,),
)
