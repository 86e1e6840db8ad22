"""Parts of a transactional.id that look random: made anew at every start, so that the id is another one each time."""

from __future__ import annotations

import re

from kafkatx.terms.catalogue.frameworks import UUID, recognise_id
from kafkatx.terms.regex import regex
from kafkatx.terms.verdicts import Verdict

_RANDOM = regex(
    rf"(?P<uuid>{UUID})|(?P<pod>-[a-z0-9]{{8,10}}-[bcdfghjklmnpqrstvwxz2456789]{{5}}(?![a-z0-9]))"
    r"|(?P<hex>(?<![0-9a-zA-Z])(?=[0-9a-fA-F]*[0-9])(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{8,}(?![0-9a-zA-Z]))|(?P<number>[0-9]{6,})"
)
"""Parts of an id that a new start makes anew: a UUID, the end of a pod's name, a hash, a time."""


def shape_of(name: str) -> str:
    """A name with its random parts replaced by what they are, whoever makes such names."""
    return _RANDOM.sub(lambda found: f"<{found.lastgroup}>", name)


def skeleton_of(transactional_id: str) -> str | None:
    """The id with its random parts replaced by what they are; None where it has none, or a framework makes such ids."""
    skeleton = shape_of(transactional_id)
    if skeleton == transactional_id:
        return None
    framework = recognise_id(transactional_id)
    return None if framework is not None and framework.certainty >= Verdict.likely else skeleton


def with_ordinal(skeleton: str) -> str:
    """A skeleton with an instance's ordinal in place of what is random: an id that is the same at the next start."""
    return re.sub("<(uuid|hex|number)>", "<ordinal>", skeleton).replace("<pod>", "-<ordinal>")
