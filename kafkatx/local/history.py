"""Histories of this machine's evidence: what every transactional.id did."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kafkatx.evidence.coverage import coverage_of, nothing_read
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.result import CaptureHistory, Histories
from kafkatx.histories.timeline import book_of
from kafkatx.histories.timeline_rows import Wanted
from kafkatx.kernels.distinct import distinct
from kafkatx.local.cores import readers
from kafkatx.stages.models import build_models, open_evidence
from kafkatx.terms.errors import NothingReadableError
from kafkatx.terms.nearest import nearest
from kafkatx.terms.progress import Progress

MOST_COMPARED = 50_000
"""Ids among which the nearest is looked for when one is not known."""


class NoHistoryError(NothingReadableError):
    """Nothing of what was asked for is in the evidence; `histories` has what was covered."""

    def __init__(self, text: str, histories: Histories) -> None:
        super().__init__(text)
        self.histories = histories


def history(
    paths: str | Path | Iterable[str | Path],
    *,
    transactional_id: str | None = None,
    producer_id: int | None = None,
    topic: str | None = None,
    partition: int | None = None,
    since: int | None = None,
    until: int | None = None,
    as_of: int | None = None,
    verify_all: bool = False,
    captures: dict[str, str] | None = None,
    progress: Progress | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
) -> Histories:
    """Tell what every transactional.id (or the one asked for) did.

    Times are milliseconds; `as_of` is "now" for ages; `captures` maps paths to the names of captures they are forced
    into; `release` and `log_zone_ms` as of `diagnose`. Raises UsageError for a path that does not exist and
    NoHistoryError (a NothingReadableError) where nothing is evidence, or where the id or producer asked for does not
    occur in it.
    """
    paths = [paths] if isinstance(paths, str | Path) else paths
    wanted = Wanted(transactional_id, producer_id, topic, partition, since, until)
    found, models = Histories(), []
    evidence = open_evidence(paths, captures)
    with readers(evidence.captures) as ahead:
        for told in build_models(
            evidence.captures,
            verify_all=verify_all,
            as_of=as_of,
            progress=progress,
            release=release,
            log_zone_ms=log_zone_ms,
            log=evidence.log,
            ahead=ahead,
        ):
            found.coverage.extend(told.coverage)
            found.damage.extend(told.damage)
            models.append(told.model)
            facts = told.model.facts
            found.captures.append(
                CaptureHistory(
                    told.capture.name, told.capture.cluster_id, facts.evidence_end, book_of(told.model, wanted)
                )
            )
    found.coverage.extend(coverage_of(None, item, None) for item in evidence.others)
    if not any(entry.is_evidence for entry in found.coverage):
        raise NoHistoryError(nothing_read(found.coverage), found)
    if not any(len(capture.book) for capture in found.captures) and (
        transactional_id is not None or producer_id is not None
    ):
        raise NoHistoryError(_unknown(models, wanted), found)
    return found


def _unknown(models: list[CaptureModel], wanted: Wanted) -> str:
    names = sorted({name for model in models for name in (*model.labels.transactional_ids, *_in_logs(model))})
    if wanted.transactional_id is not None:
        if wanted.transactional_id in names:
            return f"nothing of {wanted.transactional_id} lies within the other limits given"
        near = _nearest(wanted.transactional_id, names)
        return f"there is no transactional.id {wanted.transactional_id} in the evidence; {near}"
    known = any((model.spans["producer_id"] == wanted.producer_id).any() for model in models)
    text = f"nothing of producer id {wanted.producer_id} lies within the other limits given"
    return text if known else f"no transaction of producer id {wanted.producer_id} is in the evidence"


def _in_logs(model: CaptureModel) -> set[str]:
    """Ids that logs name."""
    codes = distinct(model.logs.events["transactional_id_code"])
    return {model.logs.facts.strings[code] for code in codes.tolist() if code >= 0}


def _nearest(name: str, names: list[str]) -> str:
    """The ids that look like the one asked for, else the first ones."""
    near = nearest(name, names[:MOST_COMPARED], likeness=0.5)
    if near:
        return f"near to it: {', '.join(near)}"
    if not names:
        return "it holds no transactional.id at all"
    return f"it holds {len(names):,}, the first: {', '.join(names[:3])}"
