from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels import templates as kernels
from kafkatx.text.logs.filling import number, topic_partition
from tests.building import BOTH_ENGINES

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))
PRINTED = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.text("0123456789-()[] SomeOptinalIt", max_size=12),
    st.tuples(st.sampled_from(["Some(", "OptionalInt[", "Optional[", "("]), st.integers(0, 10**12)).map(
        lambda pair: f"{pair[0]}{pair[1]}{']' if pair[0].endswith('[') else ')'}"
    ),
)
PARTITIONS = st.one_of(
    st.tuples(st.text("ab-._9", max_size=6), st.integers(0, 10**11)).map(lambda pair: f"{pair[0]}-{pair[1]}"),
    st.text("ab-9 ", max_size=8),
)


def spans(texts: list[str]) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Texts behind each other, with the place and length of each."""
    lengths = np.array([len(text) for text in texts], np.int64)
    return "".join(texts).encode() or b"\0", np.cumsum(lengths) - lengths, lengths


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


@BOTH_ENGINES
@given(texts=st.lists(PRINTED, min_size=1, max_size=8))
def test_numbers_are_read_as_the_slow_path_reads_them(engine, texts):
    data, starts, lengths = spans(texts)
    values = np.empty(len(texts), np.int64)
    kernels.numbers_of(kernels.numbers_of.view(data), starts, lengths, values)
    expected = [number(text) for text in texts]
    assert [value for value, text in zip(values.tolist(), texts, strict=True) if is_common(text)] == [
        value for value, text in zip(expected, texts, strict=True) if is_common(text)
    ]


def is_common(text: str) -> bool:
    """Whether Kafka prints numbers so: digits, maybe as an option; a bracket alone is nobody's."""
    bare = text.strip()
    return (bare.lstrip("-").isdigit() and len(bare) < 19) or bare.startswith(("Some(", "Optional[", "OptionalInt["))


@BOTH_ENGINES
@given(texts=st.lists(PARTITIONS, min_size=1, max_size=8))
def test_partitions_are_split_as_the_slow_path_splits_them(engine, texts):
    data, starts, lengths = spans(texts)
    partitions = np.empty(len(texts), np.int64)
    kernels.split_partitions(kernels.split_partitions.view(data), starts, lengths, partitions)
    found = [
        (data[start : start + length].decode(), partition if partition < 1 << 31 else -1)
        for start, length, partition in zip(starts.tolist(), lengths.tolist(), partitions.tolist(), strict=True)
    ]
    assert found == [topic_partition(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("INFO x", 2), ("WARN x", 3), ("ERROR x", 4), ("FATAL x", 4), ("DEBUG x", 1), ("TRACE x", 0), ("INFOS x", -1),
     ("INFO", -1), ("info x", -1), ("NOTICE x", -1), ("", -1)],
)  # fmt: skip
def test_levels_are_the_words_of_brokers(engine, text, expected):
    assert kernels.level_at(kernels.level_at.view(text.encode()), 0, len(text))[0] == expected
