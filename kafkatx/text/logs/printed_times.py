"""Times in lines as most loggers print them, many at once: where they stand, and what they tell as arrays.

Styles   `2026-11-21 10:23:51,003` (with `T` or `.`, and up to nine digits behind it), and seconds with milliseconds
         since the epoch (`1795256939.072`). What text/logs/stamps.py reads of the same text is the same time.
Two      where a container's runtime has put its own time (UTC) before the logger's, the two tell the zone, as
         text/logs/framing.py does it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.stamps import DATED, ZONE_STEP_MS, read_stamp


def _styles(first: str) -> str:
    """Regular expression of a time of these styles, of which seconds since the epoch begin with a digit."""
    return rf"(?<!\d)(?:{DATED}:\d\d[.,]\d{{3,9}}(?!\d)(?! ?[+-]\d)|{first}\d{{9}}\.\d{{3}}(?!\d))"


_TIME, _TIME_BYTES, _ZEROED_TIME = regex(_styles("1")), regex(_styles("1").encode()), regex(_styles("0").encode())
_ZEROS = bytes.maketrans(b"0123456789", b"0" * 10)
DATED_SIZE, EPOCH_SIZE = 23, 14
"""Characters of a time, up to its milliseconds."""
EPOCH_POINT = 10
"""Place of the point in seconds since the epoch."""
_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_DATED_PLACES = ((0, 4), (5, 2), (8, 2), (11, 2), (14, 2), (17, 2), (20, 3))
"""Place and size of the numbers of a time with a date: year to milliseconds."""


def times_in(text: str) -> list[re.Match[str]]:
    """The times of these styles in a line."""
    return list(_TIME.finditer(text))


def without_times(line: bytes) -> bytes:
    """A line with zeros in place of the digits of its times."""
    zeroed, at, pieces = line.translate(_ZEROS), 0, []
    for start, end in _may_be_times(zeroed):
        if _TIME_BYTES.match(line, start, end):
            pieces += [line[at:start], zeroed[start:end]]
            at = end
    return b"".join([*pieces, line[at:]]) if pieces else line


@lru_cache(maxsize=4096)
def _may_be_times(zeroed: bytes) -> tuple[tuple[int, int], ...]:
    """Where the times of a line may stand of which only digits are unknown, each a zero: lines are alike in that."""
    return tuple(found.span() for found in _ZEROED_TIME.finditer(zeroed))


def other_time(time: str, random: Random) -> str:
    """Another time in the style of one, of this century as that one."""
    if time[EPOCH_POINT] == ".":
        return f"1{random.randrange(10**9):09d}.{random.randrange(1000):03d}"
    other = datetime.fromtimestamp(random.randrange(10**9, 4 * 10**9), UTC)
    fraction = "".join(random.choices("0123456789", k=len(time) - 20))
    return f"{other:%Y-%m-%d}{time[10]}{other:%H:%M:%S}{time[19]}{fraction}"


@dataclass(frozen=True, slots=True)
class Times:
    """Where the lines of a kind have their time, and the time of a wrapper's that tells its zone (-1: none).

    `is_dated`: it is printed with its date, not as seconds since the epoch.
    """

    at: int
    is_dated: bool
    outer: int = -1

    @classmethod
    def told_by(cls, lines: list[tuple[str, int]], times: list[re.Match[str]]) -> Times | None:
        """Tell by some lines of a kind, and what their times are, in which of its places the time stands."""
        places = [(found.start(), found[0][EPOCH_POINT] != ".") for found in times]
        alone = [cls(at, is_dated) for at, is_dated in places]
        dated = [at for at, is_dated in places if is_dated]
        both = [cls(at, is_dated=True, outer=outer) for at in dated for outer in dated if outer < at]
        return next((one for one in (*alone, *both) if all(one.of(text) == at for text, at in lines)), None)

    def of(self, text: str) -> int:
        """The time of one line, milliseconds since the epoch; -1 if it is none."""
        own = read_stamp(text[self.at : self.at + (DATED_SIZE if self.is_dated else EPOCH_SIZE)]).at
        if self.outer < 0:
            return own
        outer = read_stamp(text[self.outer : self.outer + DATED_SIZE]).at
        return own - round((own - outer) / ZONE_STEP_MS) * ZONE_STEP_MS if own >= 0 and outer >= 0 else -1

    def own_of(self, text: str) -> int:
        """The same as its logger printed it; -1 where that has no date."""
        return read_stamp(text[self.at : self.at + DATED_SIZE]).at if self.is_dated else -1

    def read(self, octets: Any, starts: Any) -> Any:
        """Times of lines that begin at some places, milliseconds since the epoch; -1 of what is none."""
        if not self.is_dated:
            seconds, fractions = _number(octets, starts + self.at, 10), _number(octets, starts + self.at + 11, 3)
            return np.where(seconds >= 10**9, seconds * 1000 + fractions, -1)
        own = _dated(octets, starts + self.at)
        if self.outer < 0:
            return own
        outer = _dated(octets, starts + self.outer)
        zone = np.rint((own - outer) / ZONE_STEP_MS).astype(np.int64) * ZONE_STEP_MS
        return np.where((own >= 0) & (outer >= 0), own - zone, -1)

    def own(self, octets: Any, starts: Any) -> Any:
        """The same as their logger printed them; -1 where they have no date."""
        return _dated(octets, starts + self.at) if self.is_dated else np.full(len(starts), -1, np.int64)


def _dated(octets: Any, starts: Any) -> Any:
    """Times with a date, as if UTC; -1 of what no calendar has."""
    year, month, day, hour, minute, second, fraction = (
        _number(octets, starts + at, size) for at, size in _DATED_PLACES
    )
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    month_days = _DAYS[np.clip(month, 1, 12) - 1] + (is_leap & (month == 2))
    is_time = (year >= 1970) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= month_days)
    is_time &= (hour < 24) & (minute < 60) & (second < 60)
    shifted = year - (month <= 2)
    of_era, of_year = shifted % 400, (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = shifted // 400 * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    return np.where(is_time, ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000 + fraction, -1)


def _number(octets: Any, starts: Any, size: int) -> Any:
    digits = octets[starts[:, np.newaxis] + np.arange(size)].astype(np.int64) - ord("0")
    return digits @ (10 ** np.arange(size - 1, -1, -1, dtype=np.int64))
