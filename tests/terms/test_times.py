"""Zones of logs that name none: by offset or by name, but not by one that changes with the season."""

import pytest

from kafkatx.terms.times import parse_zone

HOUR = 3_600_000


@pytest.mark.parametrize(("text", "ms"), [("+08:00", 8 * HOUR), ("-0330", -3.5 * HOUR), ("UTC", 0)])
def test_offsets(text, ms):
    assert parse_zone(text) == ms


def test_a_zone_with_a_summer_time_is_refused_with_both_offsets():
    with pytest.raises(ValueError, match=r"\+01:00 in January and \+02:00 in July"):
        parse_zone("Europe/Berlin")
