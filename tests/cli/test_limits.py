"""Limits that exclude each other are a usage error, and no clean bill."""

import pytest

from kafkatx.cli.options import ScopeOptions, zone_option
from kafkatx.terms.errors import UsageError


def test_since_behind_until_is_refused():
    limits = ScopeOptions(since="2026-11-22T10:00:00Z", until="2026-11-21T10:00:00Z")
    with pytest.raises(UsageError, match="--since 2026-11-22T10:00:00Z is later than --until"):
        limits.limits()


def test_since_at_until_is_an_instant():
    limits = ScopeOptions(since="2026-11-21T10:00:00Z", until="2026-11-21T10:00:00Z").limits()
    assert limits["since"] == limits["until"]


def test_a_zone_with_a_summer_time_asks_for_the_offset():
    with pytest.raises(UsageError, match=r"Europe/Berlin: it is .* in January"):
        zone_option("Europe/Berlin")
