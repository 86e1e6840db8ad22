"""Every sentence of the rules, read over sample facts: what an editor reads in one sitting, and what a test holds.

A sentence is found where it stands: in the words of a rule, or in a phrase at the top of a module that rules share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.explanation import Included, Judged, Phrase, SpokenPart, Words
from kafkatx.words.sample import sample, sample_with_item
from kafkatx.words.template import Text, names_in, render, sentences, value_of


@dataclass(frozen=True, slots=True)
class Sentence:
    """A template: the module and part that it stands in, itself, and how it reads over sample facts."""

    module: str
    part: str
    template: str
    reads: str


def sentences_of(module: ModuleType) -> Iterator[Sentence]:
    """Yield the sentences of a module's words and phrases, in the order in which they are written.

    Raises AttributeError where a template, or a condition of it, names what its facts don't have.
    """
    name = module.__name__.partition(".")[2]
    for value in vars(module).values():
        if isinstance(value, Words):
            yield from _of_words(name, value)
        elif isinstance(value, Phrase):
            yield from _of_part(name, value.words, value.facts)


def all_sentences(modules: Iterable[ModuleType]) -> Iterator[Sentence]:
    """Yield the sentences of modules, each once."""
    seen: set[tuple[str, str]] = set()
    for module in modules:
        for sentence in sentences_of(module):
            if (sentence.part, sentence.template) not in seen:
                seen.add((sentence.part, sentence.template))
                yield sentence


def _of_words(module: str, words: Words[Any]) -> Iterator[Sentence]:
    facts = Judged(sample(words.facts), Verdict.likely)
    yield from _of_text(module, "title", words.title, facts)
    yield from _of_text(module, "summary", words.summary, facts)
    if words.who is not None:
        yield from _of_text(module, "who", words.who, facts)
    for part in (*words.actors, *words.steps, *words.considered, *words.remedies):
        if isinstance(part, Included):
            value_of(facts.facts, part.field)
        else:
            yield from _of_part(module, part, words.facts)


def _of_part(module: str, part: SpokenPart, kind: type[Any]) -> Iterator[Sentence]:
    facts = Judged(sample_with_item(kind, part.each) if part.each else sample(kind), Verdict.likely)
    for name in sorted(part.names()):
        value_of(facts, name)
    title = type(part).__name__.removesuffix("Words").lower()
    for name, text in part.texts():
        yield from _of_text(module, f"{title} {name}", text, facts)


def _of_text(module: str, part: str, text: Text, facts: object) -> Iterator[Sentence]:
    for name in names_in(text):
        value_of(facts, name)
    for template in sentences(text):
        reads = render(template, facts)
        if reads is None:
            raise ValueError(f"{module}: a sample fact is absent in {template!r}")
        yield Sentence(module, part, template, reads)
