"""When several producers of one transactional.id are what a capture shows, and what to do about them."""

from __future__ import annotations

from functools import partial

from kafkatx.findings.ends import SEND_AGAIN
from kafkatx.findings.one_failure import left
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.error_codes import FENCED, error_code
from kafkatx.words.explanation import remedy

TOO_SOON_MS = 1_000
"""No process dies, is noticed, starts and initialises within that time."""
WINDOW_MS = 600_000
"""Take-overs further apart are deployments or accidents, not two owners at one time."""
TURNS = 2
"""Take-overs of a living owner that one id needs: one is an ordinary fence."""
CRASH_LOOP = "a crash loop of one instance"
"""What takes an id over again and again as well."""
id_of_its_own = partial(
    remedy,
    text="Let only one producer of {id} run, or give each a transactional.id of its own. Do not use random ids: an old "
    "instance would no longer be fenced",
    where="application",
    config="transactional.id",
    current="{id}",
    proposed="one per producer, stable over restarts (from its ordinal and environment)",
    restart_needed=True,
)
"""Over facts that have the `id`."""
ONE_OWNER = remedy(
    text="Let only one producer of this transactional.id run, or give each one an id of its own that stays the same "
    "over restarts",
    where="application",
    config="transactional.id",
    proposed="one per producer, stable over restarts (from its ordinal and environment)",
    restart_needed=True,
)
"""Where no fact names the id."""
count_instances = partial(
    remedy,
    text="Count the instances that use {id}. If two run at once, give each a transactional.id of its own; if one "
    "restarts again and again, find out why it crashes",
    where="application",
)
"""Where nothing shows that several lived at once."""
SENT_AGAIN = remedy(SEND_AGAIN, "application")
"""Each take-over aborted what was open."""


def refusals(model: CaptureModel) -> list[int]:
    """Lines of clients that were refused since their epoch was old, as far as no other rule has them."""
    return [
        row
        for told in left(model)
        for row in told.rows
        if not told.is_brokers
        and FENCED & {error_code(told.error), error_code(told.known.name if told.known is not None else "")}
    ]
