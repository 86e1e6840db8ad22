"""A page is cut into the same sentences for all who look for something in them, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.text.framed_pages import FramedPage
from kafkatx.text.lines import Page, lines
from kafkatx.text.logs.sentences import paragraphs, sentences_at, sentences_of

IN_TWO = (
    "The commit hangs. Nothing is logged.",
    "Der Commit hängt. Übrigens steht nichts im Log.",
    "Le commit bloque. À la fin rien n'arrive.",
    "El commit se cuelga. ¿Alguien sabe por qué?",
    "O commit trava. É sempre assim.",
    "Коммит зависает. Никто не знает почему.",
    "提交卡住了。日志里什么都没有",
    "コミットが止まる。ログには何もない",
    "커밋이 멈춥니다. 로그에는 아무것도 없습니다",
    "**What I see.** The commit hangs",
    "It hangs (always.) (Nobody knows why)",
)
IN_ONE = ("We run release 2.13 of kafka-clients", "It hangs e.g. after a restart", "see server.properties for more")
PAGE = (
    "Our sink loses\nrecords. It began\nyesterday.",
    "- one pod hangs\n- the other one\n  is fine",
    "> it hangs\n> since Monday",
    "before\n```\nin a fence it hangs\n```\nbehind",
    "# Title\nwords below it",
    "**somebody** (author):\nit hangs",
)
PIECES = st.lists(st.sampled_from(["It hangs. ", "Why?", "\n", "\n\n", "- ", "> ", "```\n", "# ", "word ", "**A** "]))


def _cut(text: str) -> list[tuple[int, int, str]]:
    page = FramedPage(lines(Page(text.encode())))
    return [(one.first, one.last, one.text) for one in page.sentences]


@pytest.mark.parametrize("text", IN_TWO)
def test_a_sentence_ends_in_any_script(text):
    assert len([*sentences_of([text], 0, 0)]) == 2


@pytest.mark.parametrize("text", IN_ONE)
def test_a_dot_within_a_sentence_ends_nothing(text):
    assert [one.text for one in sentences_of([text], 0, 0)] == [text]


def test_a_paragraph_goes_over_lines_up_to_what_begins_anew():
    assert [_cut(text) for text in PAGE] == [
        [(0, 1, "Our sink loses records."), (1, 2, "It began yesterday.")],
        [(0, 0, "one pod hangs"), (1, 2, "the other one is fine")],
        [(0, 1, "it hangs since Monday")],
        [(0, 0, "before"), (4, 4, "behind")],
        [(0, 0, "Title"), (1, 1, "words below it")],
        [(0, 0, "**somebody** (author):"), (1, 1, "it hangs")],
    ]


@given(PIECES)
def test_sentences_of_a_paragraph_hold_all_its_words_and_are_those_at_each_of_its_lines(pieces):
    texts = "".join(pieces).split("\n")
    for first, last in paragraphs(texts, lambda number: bool(texts[number].strip())):
        cut = [*sentences_of(texts, first, last)]
        assert "".join(one.text for one in cut).count("hangs") == "".join(texts[first : last + 1]).count("hangs")
        assert all(first <= one.first <= one.last <= last for one in cut)
        if last - first <= 6:
            for number in range(first, last + 1):
                here = [one.text for one in cut if one.first <= number <= one.last]
                assert [*sentences_at(texts, number)] == here
