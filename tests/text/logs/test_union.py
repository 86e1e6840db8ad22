"""Facts of several logs as one: the same as their plain values put behind each other, however they were grouped."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.rows import EVENT
from kafkatx.terms.events import Side
from kafkatx.text.events import LogFacts, LogSource, Setting, Thrown, Trace
from kafkatx.text.logs.strings import CODE_COLUMNS
from kafkatx.text.logs.union import LogUnion
from tests.text.logs.reading import Event, plain_events

NAMES = ("orders-0", "billing", "ü", "a\ufffd")
TRACES = tuple(Trace((Thrown("a.B", text),)) for text in ("x", "y"))


@st.composite
def logs(draw: st.DrawFn) -> LogFacts:
    """A log with up to four events; every code column points anywhere among its strings, or to none."""
    strings, traces = draw(st.permutations(NAMES)), draw(st.permutations(TRACES))
    events = np.zeros(draw(st.integers(0, 4)), EVENT)
    for column in CODE_COLUMNS:
        events[column] = draw(st.lists(st.integers(-1, 3), min_size=len(events), max_size=len(events)))
    events["trace_code"] = draw(st.lists(st.integers(-1, 1), min_size=len(events), max_size=len(events)))
    events["line"] = np.arange(len(events))
    path = draw(st.sampled_from(("a.log", "b.log")))
    source = LogSource(path, Side.broker, 4, 400, -1, -1, True, 1, -1, "")
    settings = [Setting("broker", "node.id", "1", 0, line, line // 2) for line in range(draw(st.integers(0, 3)))]
    return LogFacts([source], events, strings, traces, settings)


def united(*parts: LogFacts) -> LogFacts:
    union = LogUnion()
    for part in parts:
        union.add(part)
    return union.facts()


def moved(events: list[Event], sources: int) -> list[Event]:
    return [{**event, "source": event["source"] + sources} for event in events]


def as_values(facts: LogFacts) -> tuple[object, ...]:
    return facts.sources, facts.events.tolist(), facts.strings, facts.traces, facts.settings


@given(parts=st.lists(logs(), max_size=4))
def test_nothing_is_said_that_the_logs_do_not_say_one_after_the_other(parts):
    found = united(*parts)
    assert plain_events(found) == [
        event for number, part in enumerate(parts) for event in moved(plain_events(part), number)
    ]
    assert found.sources == [source for part in parts for source in part.sources]
    assert found.settings == [
        dataclasses.replace(setting, source=number) for number, part in enumerate(parts) for setting in part.settings
    ]


@given(parts=st.lists(logs(), max_size=4))
def test_equal_strings_and_traces_are_held_once_in_order_of_first_sight(parts):
    found = united(*parts)
    assert found.strings == list(dict.fromkeys(text for part in parts for text in part.strings))
    assert found.traces == list(dict.fromkeys(trace for part in parts for trace in part.traces))


@given(parts=st.lists(logs(), min_size=1, max_size=4), at=st.integers(0, 4))
def test_neighbours_may_be_united_first(parts, at):
    assert as_values(united(united(*parts[:at]), united(*parts[at:]))) == as_values(united(*parts))


@given(part=logs())
def test_what_is_united_stays_as_it_is(part):
    before = as_values(dataclasses.replace(part, events=part.events.copy()))
    united(part, part)
    assert as_values(part) == before


def test_of_nothing_nothing_is_said():
    assert as_values(united()) == as_values(LogFacts())
    assert united().events.dtype == EVENT
