"""An error that a JSON line holds as an object is told behind its class, where a key has it."""

from __future__ import annotations

import json

import pytest

from kafkatx.text.logs.json_lines import read_record

WORDS = "There is a newer producer"
CLASS = "org.apache.kafka.common.errors.ProducerFencedException"


def _trace(error: dict[str, str]) -> str:
    record = read_record(json.dumps({"level": "error", "message": "commit failed", "error": error}))
    assert record is not None
    return record.trace


@pytest.mark.parametrize("key", ["type", "name", "class", "kind"])
@pytest.mark.parametrize("words", ["message", "msg"])
def test_the_class_of_an_error_stands_before_its_words(key: str, words: str) -> None:
    assert _trace({key: CLASS, words: WORDS}) == f"{CLASS}: {WORDS}"


@pytest.mark.parametrize("name", ["error", "io", "Fehler", "producer", "x.y"])
def test_what_is_no_class_is_not(name: str) -> None:
    assert _trace({"type": name, "message": WORDS}) == WORDS


def test_a_stack_and_words_that_have_the_class_stay_as_they_are() -> None:
    stack = f"{CLASS}: {WORDS}\n\tat a.B.c(B.java:1)"
    assert _trace({"type": CLASS, "stack": stack}) == stack
    assert _trace({"type": CLASS, "message": f"{CLASS}: x"}) == f"{CLASS}: x"
