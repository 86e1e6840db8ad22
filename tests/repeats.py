"""What is tried again one by one: some of it in each run, all of it with `pytest -m repeats`."""

from typing import Any

import pytest

from tests.evidence import all_cases, fixture_cases


def one_by_one() -> list[Any]:
    """Return all cases at hand, for a test that takes each alone where another takes the repository's in one call.

    Of these every fourth is tried in each run, the others with `-m repeats`.
    """
    left_out = [case for number, case in enumerate(fixture_cases()) if number % 4]
    return [
        pytest.param(case, id=case.name, marks=pytest.mark.repeats if case in left_out else ()) for case in all_cases()
    ]
