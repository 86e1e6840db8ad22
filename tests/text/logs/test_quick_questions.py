"""What is asked before a dearer question: it never says no where that would have said yes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.text.logs import fragments, layouts, source_code, spelled, wrappers
from kafkatx.text.prose import named_errors
from tests.text.logs.recorded import recorded_lines, recorded_texts

MADE = st.text(st.sampled_from("aT .:_\u00a0\u2003\tx\x1c"), max_size=24)
FRAMES = ('  File "a.py", line 3', "\tat a.B.c(", "goroutine 7 [running]:", " \u00a0at x:9", "at A$b()", "    at <x>(")


@pytest.mark.parametrize("line", FRAMES)
def test_frames_begin_with_their_words(line):
    assert source_code._is_frame(line) == (source_code._FRAME.match(line) is not None) is True


def test_of_recorded_lines_the_same_are_frames():
    lines = recorded_lines()
    assert [line for line in lines if source_code._is_frame(line)] == list(filter(source_code._FRAME.match, lines))


def held(line: str) -> set[str]:
    """What stands in a line where words begin, looked for by each place."""
    return {line[one.start() : one.start() + spelled.HEAD] for one in spelled._BEGINS.finditer(line)}


@given(MADE, st.sampled_from(sorted(spelled.words())), MADE)
def test_words_of_errors_are_looked_for_at_every_place(before, words, behind):
    line = before + words + behind
    assert held(line) >= set(spelled._BEGUN.findall(line)) >= {one for one in held(line) if len(one) == spelled.HEAD}


@given(MADE, st.sampled_from(sorted(fragments._shingles())), MADE)
def test_a_line_with_words_of_a_text_has_the_longest_of_them(before, words, behind):
    text = fragments._prepared(f"{before} {words} {behind}")
    found = [one.group() for one in re.finditer(r"\S+", text)]
    assert text.split() == found
    if words.split()[-1] in found:  # dots at the end of a line are none of its words
        assert not fragments._longest_words().isdisjoint(found)


def test_a_line_that_no_layout_fits_has_none_of_them():
    lines = recorded_lines()
    fits = [any(one.read(line, layouts.heads(line)) for one in layouts.LAYOUTS) for line in lines]
    assert [layouts.first_fitting(line) is not None for line in lines] == fits
    assert any(fits)
    assert not all(fits)


def test_wrappers_are_remembered_as_they_were_found():
    assert all(wrappers.wrappers_of(line) == tuple(wrappers._wrappers_of(line)) for line in recorded_lines())


@pytest.mark.parametrize("of_frames", [False, True])
def test_symptoms_are_asked_of_the_lines_that_hold_one_of_their_literals(of_frames):
    patterns = named_errors._patterns()
    asked = 0
    for text in recorded_texts():
        lines = [named_errors._small(line) for line in text.split("\n")]
        found = named_errors._asked_of(lines, of_frames=of_frames)
        wanted = {
            number: {
                which
                for which, (symptom, _, _) in enumerate(patterns)
                if symptom.is_of_frames is of_frames and any(literal in line for literal in symptom.holds)
            }
            for number, line in enumerate(lines)
        }
        assert found == {number: which for number, which in wanted.items() if which}
        asked += len(found)
    assert asked > 0
