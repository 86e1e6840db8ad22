"""Times and durations in words: ISO 8601 in UTC with milliseconds; durations as a person says them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""Years 1 to 9999: what ISO 8601 has room for. A damaged or hostile timestamp may lie outside."""


def iso(time_ms: int | None) -> str | None:
    """`2026-11-21T10:29:00.132Z`; None for an absent time (None or negative) or one that no calendar has."""
    if time_ms is None or time_ms < 0 or time_ms > LAST_MS:
        return None
    return (EPOCH + timedelta(milliseconds=time_ms)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{time_ms % 1000:03d}Z"


def clock(time_ms: int) -> str:
    """Time of day, `10:29:00.132`, for a line whose date is clear."""
    text = iso(time_ms)
    return text[11:23] if text else "an unknown time"


def span(since: int | None, until: int | None, *, has_zone: bool = True) -> str:
    """From when to when, the date once: `2026-11-21 10:29:00.108 to 10:29:01.276 UTC`; empty without a time.

    Times of an unknown zone go without one.
    """
    known = [text[:-1].replace("T", " ") for time in (since, until) if (text := iso(time)) is not None]
    if not known:
        return ""
    first, last = known[0], known[-1]
    told = first if first == last else f"{first} to {last[11:] if first[:10] == last[:10] else last}"
    return f"{told} UTC" if has_zone else told


def duration(milliseconds: int) -> str:
    """Duration with the precision a reader needs: `132 ms`, `1.16 s`, `4 min 10 s`, `7.7 d`."""
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 120_000:
        return f"{milliseconds / 1_000:.2f}".rstrip("0").rstrip(".") + " s"
    if milliseconds < 7_200_000:
        minutes, seconds = divmod(milliseconds // 1_000, 60)
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    if milliseconds < 172_800_000:
        return f"{milliseconds / 3_600_000:.1f} h".replace(".0 ", " ")
    return f"{milliseconds / 86_400_000:.1f} d".replace(".0 ", " ")


def parse_zone(text: str) -> int:
    """Milliseconds that a zone lies ahead of UTC, by offset (`+08:00`) or name; raises ValueError.

    A name whose zone has a summer time is refused with a ValueError that says so: which half of the year logs are of is
    theirs to say.
    """
    if text[:1] in "+-" and text[1:]:
        sign, digits = (-1 if text[0] == "-" else 1), text[1:].replace(":", "").ljust(4, "0")
        if not digits.isdigit() or len(digits) != 4:
            raise ValueError(text)
        return sign * (int(digits[:2]) * 60 + int(digits[2:])) * 60_000
    from zoneinfo import ZoneInfo

    try:
        zone = ZoneInfo(text)
    except (KeyError, OSError) as error:
        raise ValueError(text) from error
    winter, summer = (datetime(2026, month, 15, tzinfo=zone) for month in (1, 7))
    if winter.utcoffset() != summer.utcoffset():
        raise ValueError(f"it is {_offset(winter)} in January and {_offset(summer)} in July; give the one that holds")
    return (winter.utcoffset() or timedelta()) // timedelta(milliseconds=1)


def _offset(time: datetime) -> str:
    """How far the zone of a time is ahead, as ISO 8601 writes it."""
    return time.isoformat()[-len("+00:00") :]


def parse_time(text: str) -> int:
    """Milliseconds of an ISO 8601 time, UTC unless a zone is given; raises ValueError."""
    time = datetime.fromisoformat(text)
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // timedelta(milliseconds=1)
