"""What is wrong with a line of one of the broker's text files. A reader returns it beside what it could read."""

from __future__ import annotations

from kafkatx.terms.records import dataclass

SHOWN = 80
"""Characters of a wrong line that are kept."""


@dataclass(frozen=True, slots=True)
class TextProblem:
    """A line (1 is the first) that is not what its layout asks for. `found` is raw: escape it when showing it."""

    line: int
    expected: str
    found: str


def problem(line: int, expected: str, found: str) -> TextProblem:
    """Return a problem, with a long line cut."""
    return TextProblem(line, expected, found if len(found) <= SHOWN else f"{found[: SHOWN - 3]}...")


def whole_number(text: str, bits: int) -> int | None:
    """Return the decimal number that a text is (ASCII digits, perhaps a minus), None if it is none of `bits` bits."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 19:
        return None
    number = int(text)
    return number if -(1 << (bits - 1)) <= number < 1 << (bits - 1) else None
