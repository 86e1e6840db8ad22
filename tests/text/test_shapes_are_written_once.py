"""What several readers of text ask for is one pattern with a name: a time, a level, a class of exceptions, a row."""

import pytest

from kafkatx.terms import events
from kafkatx.terms.error_codes import GENERIC, ErrorCode, error_code
from kafkatx.text.logs import bare, error_names, source_code, stamps
from kafkatx.text.prose.named_errors import errors_in
from tests.evidence import ROOT

SHAPES = {
    **{f"error_names.{name}": getattr(error_names, name) for name in vars(error_names) if name.isupper()},
    "events.LEVELS_OF_KAFKA": events.LEVELS_OF_KAFKA,
    "events.LOUD_LEVELS": events.LOUD_LEVELS,
    "stamps.DATED": stamps.DATED,
    "stamps.DATED_ANYHOW": stamps.DATED_ANYHOW,
    "stamps.TIMED": stamps.TIMED,
    "source_code.BEGINNINGS": source_code.BEGINNINGS,
    "source_code.ENDINGS": source_code.ENDINGS,
    "source_code.THROWS": source_code.THROWS,
    "bare.CELLS": bare.CELLS.pattern,
}


def spelled(shape: str) -> set[str]:
    """How source code writes a piece of a pattern: as it is, or in a string that values are put into."""
    return {shape, shape.replace("{", "{{").replace("}", "}}")}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_shape_that_has_a_name_is_written_once(name):
    files = [path for path in (ROOT / "kafkatx/text").rglob("*.py") if path.stem != name.split(".")[0]]
    assert not [path.name for path in files if any(text in path.read_text() for text in spelled(SHAPES[name]))]


def test_classes_that_say_nothing_are_listed_once():
    files = (ROOT / "kafkatx").rglob("*.py")
    assert [path.name for path in files if '"KafkaJSNonRetriableError"' in path.read_text()] == ["error_codes.py"]


@pytest.mark.parametrize("name", sorted(GENERIC))
def test_a_class_that_says_nothing_names_no_error(name):
    assert error_code(name) is ErrorCode.NONE
    assert not [*errors_in(f"since Monday the transactional producer dies with org.example.{name}: what is that?")]
