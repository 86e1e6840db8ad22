"""The voice: what titles, summaries, grounds and all other sentences have in common, over the whole list of them."""

import re

import pytest

from kafkatx.cli.words import speaking_modules
from kafkatx.words.catalogue import Sentence, all_sentences

SENTENCES = list(all_sentences(speaking_modules()))
MOST_IN_A_TITLE = 60
"""Characters that stand in one line of an index beside the severity, a name and the verdict."""
FULL_STOP = re.compile(r"\.(\s|$)")
VERDICT = re.compile(r"\b(proved|likely|possible|probably|possibly)\b", re.IGNORECASE)
"""An index prints it beside the title; in sentences it is `{perhaps}`."""
NAME = re.compile(r"[a-z]+[A-Z_.]")
"""A method, a setting or another name of Kafka, which keeps its small letter."""
NOT_OURS = re.compile(
    r"\btold by\b|\bat hand\b|\bthe rows\b|\bpieces? of data\b|\bgave the call up\b|\bthe call gave up\b|\bbecause so\b"
    r"|\bnot refuted\b|\(topic not named\)|--1|\ba unknown\b|\bT[O0]DO\b",
    re.IGNORECASE,
)
"""Words that readers did not understand, names that are none, and what nobody has written yet."""


def of_part(part: str) -> pytest.MarkDecorator:
    """Every sentence of a part, each a test of its own."""
    return each([sentence for sentence in SENTENCES if sentence.part == part])


def each(sentences: list[Sentence]) -> pytest.MarkDecorator:
    """Every sentence a test of its own, named by the module that it stands in."""
    return pytest.mark.parametrize("sentence", sentences, ids=lambda one: f"{one.module}: {one.template[:60]}")


@of_part("title")
def test_a_title_is_short_and_has_neither_full_stop_nor_verdict(sentence: Sentence):
    assert len(sentence.reads) <= MOST_IN_A_TITLE, shown(sentence)
    assert not FULL_STOP.search(sentence.reads), shown(sentence)
    assert not VERDICT.search(sentence.template), shown(sentence)
    assert "perhaps" not in sentence.template, shown(sentence)


@of_part("summary")
def test_a_summary_is_a_whole_sentence(sentence: Sentence):
    first = sentence.reads[0]
    is_name = sentence.template.startswith("{") or NAME.match(sentence.reads)
    assert first.isupper() or first.isdigit() or is_name, shown(sentence)
    assert sentence.reads.endswith("."), shown(sentence)


@of_part("step because")
def test_grounds_are_no_cause(sentence: Sentence):
    assert not sentence.reads.lower().startswith("because"), shown(sentence)


@each(SENTENCES)
def test_a_sentence_speaks_its_readers_language(sentence: Sentence):
    for text in (sentence.template, sentence.reads):
        assert not NOT_OURS.search(text), shown(sentence)


@pytest.mark.parametrize(
    "said",
    ["Told by the rows", "3 pieces of data", "not refuted: one", "(topic not named)--1", "log of a unknown", "T0DO"],
)
def test_what_is_banned_is_found(said):
    assert NOT_OURS.search(said)


def shown(sentence: Sentence) -> str:
    """Where it stands and how it reads."""
    return f"{sentence.module}, {sentence.part}: {sentence.reads}"
