"""What is tried of many recorded cases: some of it in each run, all of it with `pytest -m repeats`."""

from typing import Any

import pytest

from tests.evidence import all_cases


def one_by_one(step: int = 4) -> list[Any]:
    """Return all cases at hand, for a test that takes each alone where another takes many in one call.

    Of these every `step`th is tried in each run, the others with `-m repeats`.
    """
    return [
        pytest.param(case, id=case.name, marks=pytest.mark.repeats if number % step else ())
        for number, case in enumerate(all_cases())
    ]


def together() -> list[Any]:
    """Return cases for a test that takes them in one call: every fifth in each run, all at hand with `-m repeats`."""
    cases = all_cases()
    return [
        pytest.param(tuple(cases[1::5]), id="every fifth"),
        pytest.param(tuple(cases), id="all", marks=pytest.mark.repeats),
    ]
