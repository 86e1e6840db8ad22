"""What programs around the Java client and brokers can print is told, whichever of their messages it is."""

import pytest

from tests.rules.said_by_programs import said, short_of

MESSAGES = list(said())


@pytest.mark.parametrize("one", MESSAGES, ids=lambda one: f"{one.program}-{one.number}")
def test_a_message_is_told_with_its_cause_first_or_is_quiet(one, tmp_path):
    assert short_of(one, tmp_path) is None


def test_each_message_stands_once():
    assert len({(one.program, one.form, one.by, one.words) for one in MESSAGES}) == len(MESSAGES)
