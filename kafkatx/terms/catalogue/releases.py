"""Releases of Kafka, and spans of them, as the catalogue's tables write them.

Notation  `2.5+` (from 2.5 on), `0.11-2.4` (first to last), `2.6` (only that one), `all`; in tables with `since` and
          `until` columns an empty `until` means "still so", an empty `since` "the first release is not known".
Limits    a release given shortly (`2.4`) stands for all of its patch releases, so it lies in every span that one of
          them lies in: what came with 2.4.1 and what went after 2.4.0 are both shown for `2.4`.
"""

from __future__ import annotations

from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

NEWEST_RELEASE = "4.4"
"""The newest release that the catalogue was checked against."""

_RELEASE = regex(r"[vV]?([0-9]{1,4}(?:\.[0-9]{1,4}){0,3})(?:[-+]\S{0,40})?")
_FOREVER = (1_000_000,)


@dataclass(frozen=True, slots=True)
class Release:
    """A release by its numbers, e.g. `(2, 8, 2)`; shorter ones stand for all that begin so."""

    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers))


def parse_release(text: str) -> Release:
    """Return the release that `2.8`, `v3.9.1` or `4.1.0-SNAPSHOT` names.

    Raises:
        UsageError: the text is no release number.
    """
    match = _RELEASE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"not a Kafka release: {text!r}; write it as 2.8 or 3.9.1")
    return Release(tuple(map(int, match[1].split("."))))


@dataclass(frozen=True, slots=True)
class Span:
    """The releases from `since` to `until`, both included; None is open."""

    since: str | None = None
    until: str | None = None

    def holds(self, release: Release | None) -> bool:
        """Tell whether `release` lies in the span; no release lies in all of them."""
        if release is None:
            return True
        early = self.since is not None and (*release.numbers, *_FOREVER) < _numbers(self.since)
        late = self.until is not None and release.numbers > (*_numbers(self.until), *_FOREVER)
        return not early and not late

    def __or__(self, other: Span) -> Span:
        """The releases from the first of both spans to the last."""
        if self == other:
            return self
        since = None if self.since is None or other.since is None else min(self.since, other.since, key=_numbers)
        until = None if self.until is None or other.until is None else max(self.until, other.until, key=_numbers)
        return Span(since, until)

    def __str__(self) -> str:
        if self.since is None or self.until is None:
            return f"{self.since}+" if self.since else f"to {self.until}" if self.until else "all"
        return self.since if self.since == self.until else f"{self.since}-{self.until}"


def parse_span(text: str) -> Span:
    """Return the span that the notation of the tables names, e.g. `0.11-2.4`."""
    if text == "all":
        return Span()
    if text.endswith("+"):
        return Span(text[:-1])
    since, _, until = text.partition("-")
    return Span(since, until or since)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
