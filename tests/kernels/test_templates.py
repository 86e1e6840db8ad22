from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels import templates as kernels
from tests.building import BOTH_ENGINES

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))


@BOTH_ENGINES
@given(time=TIMES)
def test_printed_times_are_those_of_the_calendar(engine, time):
    text = f"[{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03d}] INFO".encode()
    expected = (time - EPOCH) // timedelta(milliseconds=1)
    assert kernels.printed_time(kernels.printed_time.view(text), 0, len(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[2026-02-29 10:00:00,000] ", "[2100-02-29 10:00:00,000] ", "[2026-00-10 10:00:00,000] ",
        "[2026-13-10 10:00:00,000] ", "[2026-04-31 10:00:00,000] ", "[2026-04-00 10:00:00,000] ",
        "[2026-04-01 24:00:00,000] ", "[2026-04-01 10:60:00,000] ", "[2026-04-01 10:00:60,000] ",
        "[2026-04-01 10:00:00.00] x", "[2026-04-01T10:00:00,000] ", "[2026-04-01 10:00:00,0000]", "[2026-04-01",
        "[20x6-04-01 10:00:00,000] ", "[2026-04-01 10:0a:00,000] ",
    ],
)  # fmt: skip
def test_what_no_calendar_or_layout_has_is_no_time(engine, text):
    assert kernels.printed_time(kernels.printed_time.view(text.encode()), 0, len(text)) == -1


def test_leap_days_are_days(engine):
    for text, expected in (
        ("[2000-02-29 00:00:00,000] ", 951_782_400_000),
        ("[2024-02-29 23:59:59.999] ", 1709251199999),
    ):
        assert kernels.printed_time(kernels.printed_time.view(text.encode()), 0, len(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("INFO x", 2), ("WARN x", 3), ("ERROR x", 4), ("FATAL x", 4), ("DEBUG x", 1), ("TRACE x", 0), ("INFOS x", -1),
     ("INFO", -1), ("info x", -1), ("NOTICE x", -1), ("", -1)],
)  # fmt: skip
def test_levels_are_the_words_of_brokers(engine, text, expected):
    assert kernels.level_at(kernels.level_at.view(text.encode()), 0, len(text))[0] == expected
