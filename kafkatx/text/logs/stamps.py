"""Times as loggers print them: with or without date, year and zone.

Styles   ISO 8601 and its relatives (`2026-11-21 10:23:51,003`, `2026-11-21T10:23:51.003+08:00`, `2026/11/21 ...`),
         compact (`20231221 09:48:17,309`), day first (`21 Nov 2026 10:23:51,003`, `21/Nov/2026:10:23:51`), month first
         (`Nov 21, 2026 3:42:22 PM`, `Sat Nov 21 10:23:51 2026`, `Nov 21 10:23:51` of syslog: no year), time of day
         alone (`15:42:22.815`), years of two
         digits (`26/11/21`, `11/21/26`), and seconds
         or milliseconds since the epoch (`1795256939.072`, `1795256939072`).
Zones    `Z`, `UTC`, `GMT`, `+08:00`, `+0800`, `+08`. Other names of zones (`CST`) stand for several zones: not told.
Limits   a leap second counts as the second after it; a day that no calendar has is no time.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from kafkatx.terms.clocks import DAY_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

FEWEST_OF_YEAR = 12
"""A number of two digits above which no month is meant."""
ZONE_STEP_MS = 900_000
"""Zones are multiples of a quarter of an hour."""

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}
_CLOCK = r"(?:\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?: ?[AP]M)?|\d:\d\d:\d\d(?:[.,:]\d{1,9})? ?[AP]M)"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)(?![\w:]))?"
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\ )?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"

_TIME = rf"{_CLOCK}{_ZONE}"
_DATES = "|".join(
    (
        r"\d{4}[-/.]\d\d[-/.]\d\d(?:[T _]|, )",
        r"\d{8}[T _-]",
        r"\d\d/\d\d/\d{4},? ",
        r"\d\d/\d\d/\d\d ",
        rf"\d{{1,2}}[-/ ]{_MONTH}[-/ ]\d{{4}}(?:::?| )",
        rf"{_MONTH} {{1,2}}\d{{1,2}},? \d{{4}},?(?: @)? ",
    )
)
_NO_YEAR = rf"{_MONTH} {{1,2}}\d{{1,2}} "
STAMP = "|".join(
    (
        rf"(?:{_DATES}){_TIME}",
        rf"{_WEEKDAY}{_NO_YEAR}{_CLOCK}(?: [A-Z]{{3,4}})? (?:19|20)\d\d(?!\d)",
        rf"(?:{_NO_YEAR})?{_TIME}",
        r"1\d{12}(?!\d)|1\d{9}\.\d{1,9}(?!\d)",
    )
)
"""Regular expression of any stamp, most telling first. It takes time linear in the length of a stamp."""
DATED = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d"
"""How most loggers begin a stamp."""
DATED_ANYHOW = r"\d{4}-\d\d-\d\d.\d\d:\d\d"
"""The same, whatever stands between date and time."""
TIMED = r"\d\d:\d\d|\b1\d{9,12}\b"
"""A time of day, or seconds or milliseconds since the epoch: what nobody writes who only explains."""

_PARTS = regex(
    rf"""(?: (?P<year>\d{{4}})[-/.]?(?P<month>\d\d)[-/.]?(?P<day>\d\d)(?:[T\ _-]|,\ )
           | (?P<month4>\d\d)/(?P<day4>\d\d)/(?P<year4>\d{{4}}),?[ ]
           | (?P<short>\d\d/\d\d/\d\d)[ ]
           | (?P<day2>\d{{1,2}})[-/\ ](?P<name2>{_MONTH})[-/\ ](?P<year2>\d{{4}})(?:::?|\ )
           | {_WEEKDAY}(?P<name3>{_MONTH})\ {{1,2}}(?P<day3>\d{{1,2}})(?:,?\ (?P<year3>\d{{4}}))?,?(?:\ @)?\  )?
        (?P<hour>\d{{1,2}}):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,:](?P<fraction>\d{{1,9}}))?\ ?(?P<half>[AP]M)?\ ?
        (?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?(?:\ ?[A-Z]{{3,4}})?(?:\ (?P<year5>\d{{4}}))?""",
    re.VERBOSE,
)


_EPOCH = regex(r"1\d{9}(?:\d{3})?(?:\.\d*)?")
_DAY_IN_NAME = regex(r"(?<!\d)(20\d\d)([-._]?)(\d\d)\2(\d\d)(?!\d)")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A printed time. `at`: milliseconds since the epoch, as if UTC where no zone is printed, -1 where no date is.

    `of_day`: milliseconds since midnight as printed; `month_day` stands for a date without a year (month, day).
    """

    at: int
    of_day: int
    is_zoned: bool = False
    month_day: tuple[int, int] | None = None


NO_STAMP = Stamp(-1, -1)


def read_stamp(text: str) -> Stamp:
    """Read a stamp; `NO_STAMP` if it is none or names a time that does not exist."""
    if len(text) == 23 and text[19] in ",." and text[17:19].isdecimal() and text[20:].isdecimal():
        minute = _minute(text[:16])
        if minute.at >= 0 and text[16] == ":" and text[17] < "6":
            within = int(text[17:19]) * 1_000 + int(text[20:])
            return Stamp(minute.at + within, minute.of_day + within)
    return _read(text)


@lru_cache(maxsize=1024)
def _minute(text: str) -> Stamp:
    """Read a stamp up to its minutes."""
    return _read(text + ":00") if text[:4].isdecimal() else NO_STAMP


@lru_cache(maxsize=1024)
def _read(text: str) -> Stamp:
    if _EPOCH.fullmatch(text):
        return Stamp(_epoch_ms(text), -1, is_zoned=True)
    found = _PARTS.fullmatch(text)
    if not found:
        return NO_STAMP
    if found["short"]:
        return _read(_in_full(found["short"]) + text[len(found["short"]) :])
    of_day, month = _of_day(found), _month(found)
    return Stamp(-1, of_day) if of_day < 0 or not month else _dated(found, month, of_day)


def _in_full(date: str) -> str:
    """A date whose year has two digits: the year stands first (Spark), or last behind the month (WebSphere)."""
    first, second, third = date.split("/")
    return f"20{first}-{second}-{third}" if int(first) > FEWEST_OF_YEAR else f"20{third}-{first}-{second}"


def _month(found: re.Match[str]) -> int | None:
    """Month of a stamp by number or name, None where no date is printed."""
    named = (found["name2"] or found["name3"] or "")[:3].lower()
    month = found["month"] or found["month4"]
    return int(month) if month else _MONTHS.get(named)


def _dated(found: re.Match[str], month: int, of_day: int) -> Stamp:
    """A stamp with a date, `NO_STAMP` where no calendar has it."""
    day = int(found["day"] or found["day2"] or found["day3"] or found["day4"])
    year = found["year"] or found["year2"] or found["year3"] or found["year4"] or found["year5"]
    if not year:
        return Stamp(-1, of_day, month_day=(month, day))
    midnight = midnight_of(int(year), month, day)
    if midnight is None:
        return NO_STAMP
    zone = zone_ms(found["zone"])
    return Stamp(max(midnight + of_day - (zone or 0), -1), of_day, is_zoned=zone is not None)


def midnight_of(year: int, month: int, day: int) -> int | None:
    """Return the first millisecond of a day as if UTC, None if the calendar has no such day."""
    try:
        return (date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()) * DAY_MS
    except ValueError:
        return None


def day_of_name(path: str) -> int | None:
    """Return the first millisecond (as if UTC) of the day that a file's name tells (`app-2023-02-08.log`)."""
    found = _DAY_IN_NAME.search(path.rpartition("/")[2])
    return midnight_of(int(found[1]), int(found[3]), int(found[4])) if found else None


def zone_ms(zone: str | None) -> int | None:
    """Return how far a zone is ahead of UTC (`+08:00`: 28800000), None where none is printed."""
    if not zone:
        return None
    if zone in ("Z", "UTC", "GMT"):
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[3:].lstrip(":") or 0)
    return (-minutes if zone[0] == "-" else minutes) * 60_000


def _epoch_ms(text: str) -> int:
    seconds, _, fraction = text.partition(".")
    return int(seconds) if len(seconds) == 13 else int(seconds) * 1_000 + int((fraction + "000")[:3])


def _of_day(found: re.Match[str]) -> int:
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] == "PM" else 0)
    if hour > 24 or minute > 59 or second > 60:
        return -1
    fraction = found["fraction"]
    return ((hour * 60 + minute) * 60 + second) * 1_000 + (int((fraction + "00")[:3]) if fraction else 0)
