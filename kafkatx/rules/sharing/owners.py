"""When several owners of one transactional.id are what a capture shows, and what to do about them."""

from __future__ import annotations

from kafkatx.words.explanation import remedy

WINDOW_MS = 600_000
"""Take-overs further apart are deployments or accidents, not two owners at one time."""
TURNS = 2
"""Take-overs of a living owner that one id needs: one is an ordinary fence."""
CRASH_LOOP = "a crash loop of one owner"
"""What takes an id over again and again as well."""
ID_OF_ITS_OWN = remedy(
    text="give each owner a transactional.id of its own, or let only one of them run",
    where="application",
    config="transactional.id",
    current="{id}",
    proposed="an id of its own for each owner, stable over restarts (ordinal, environment in the prefix)",
    derived_from="living owners of this id fenced each other",
    cost="none; a random id instead would take the fencing of zombies away",
    restart_needed=True,
)
"""Over facts that have the `id`."""
