"""Expiry as what rules still in their old form refute; the new form is NOT_EXPIRED of rules/ends_in_data.py."""

from __future__ import annotations

from kafkatx.terms.times import duration
from kafkatx.words.explained import Considered, Place

LONG_IDLE_MS = 86_400_000
"""From a day on people suspect an expiry."""


def not_expired(idle_ms: int, places: tuple[Place, ...]) -> tuple[Considered, ...]:
    """The popular explanation for what fails after idle days, refuted where the same producer id goes on."""
    if idle_ms < LONG_IDLE_MS:
        return ()
    why = f"refuted: after {duration(idle_ms)} the same producer id goes on; an expired id would have got a new one"
    return (Considered("transactional_id_expired", why, places),)
