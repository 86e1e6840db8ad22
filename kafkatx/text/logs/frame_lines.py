"""Releases by the line numbers of stack frames: a trace without jar names may still tell which kafka-clients it is of.

Table    frame_lines.tsv: lines of KafkaProducer, TransactionManager and Sender that hold the calls and throws met in
         traces of transactional methods (`transactionManager.beginCommit()`, `maybeFailWithError();`, ...), with every
         release that has such a statement on that line. Source: Kafka's source at its releases from 0.11.0.0 to 3.9.0
         (and 4.3.1 where recordings show it has a line of the table, so that it is not taken for an older one).
Rule     all frames of KafkaProducer's transactional methods must be in the table (else it is of a release that the
         table lacks), frames of two files must be known, and the releases that have all of them must be one minor
         release that the table knows whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from kafkatx.terms.packaged import packaged_text
from kafkatx.text.logs.calls import TRANSACTIONAL

FEWEST_FILES = 2
"""Files of Kafka whose frames must agree."""
OPEN_ENDED = {"3.9"}
"""Minor releases with patches that the table does not know."""
UNKNOWN = {"4.3"}
"""Minor releases with neighbours that the table does not know."""

Frame = tuple[str, str, str]
"""Class, method and place (`Sender.java:283`) of a frame."""


def release_of_frames(frames: Iterable[Frame]) -> str | None:
    """Return `kafka-clients-2.2.0` (`kafka-clients-2.2` where several patches fit) if frames prove it, else None."""
    table, found = _table(), dict[str, frozenset[str]]()
    for owner, method, place in frames:
        if place in table:
            found[place] = table[place]
        elif owner.endswith(".KafkaProducer") and method in TRANSACTIONAL:
            return None
    if len({place.partition(":")[0] for place in found}) < FEWEST_FILES:
        return None
    common = frozenset.intersection(*found.values())
    minors = {release.rpartition(".")[0] for release in common}
    if len(minors) != 1 or minors & UNKNOWN:
        return None
    is_exact = len(common) == 1 and not minors & OPEN_ENDED
    return f"kafka-clients-{min(common if is_exact else minors)}"


@cache
def _table() -> dict[str, frozenset[str]]:
    """Place of a frame to the releases that have one there."""
    text = packaged_text(__package__, "frame_lines.tsv")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {place: frozenset(releases.split(",")) for place, releases in rows}
