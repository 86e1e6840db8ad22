"""Whether lines were left out of a text that is cited: what is counted of them is the least, then."""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.text.prose.statements import LEFT_OUT
from kafkatx.words.explained import EvidenceRef


def is_abridged(model: CaptureModel, places: Iterable[EvidenceRef]) -> bool:
    """Whether a page with cited lines says that lines of it were left out."""
    pages = {place.source for place in places if place.source is not None and place.line is not None}
    return any(one.name == LEFT_OUT for path in pages for one in statements_of(model.logs, path))
