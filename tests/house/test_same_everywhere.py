"""The same evidence gives the same bytes on any machine, whatever its time zone, locale and hash seed."""

import json

import pytest

from tests.house.tools import printed_by_kafkatx

MACHINES = {
    "plain": {"TZ": "UTC0", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"},
    "far west": {"TZ": "WEST+11", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"},
    "no locale": {"TZ": "EAST-13", "LC_ALL": "C", "PYTHONHASHSEED": "2"},
}


@pytest.fixture(scope="module")
def usual() -> str:
    return printed_by_kafkatx("diagnose", "fixtures/k39-timeout", "--format", "json")


@pytest.fixture(scope="module")
def usual_text() -> str:
    return printed_by_kafkatx("diagnose", "fixtures/k39-timeout")


@pytest.mark.parametrize("machine", MACHINES)
def test_a_diagnosis_does_not_depend_on_the_machine(usual, machine):
    assert printed_by_kafkatx("diagnose", "fixtures/k39-timeout", "--format", "json", **MACHINES[machine]) == usual


@pytest.mark.parametrize("machine", MACHINES)
def test_the_text_of_a_diagnosis_does_not_depend_on_the_machine(usual_text, machine):
    assert printed_by_kafkatx("diagnose", "fixtures/k39-timeout", **MACHINES[machine]) == usual_text


def test_the_width_of_the_window_changes_no_fact(usual):
    narrow = printed_by_kafkatx("diagnose", "fixtures/k39-timeout", "--format", "json", COLUMNS="40")
    assert json.loads(narrow) == json.loads(usual)
