"""The diagnosis of this machine's evidence: one capture after the other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kafkatx.evidence.coverage import coverage_of
from kafkatx.findings.diagnosis import Diagnosis, Selection
from kafkatx.local.cores import readers
from kafkatx.sources import places
from kafkatx.stages.counting import HELD_UP_TO
from kafkatx.stages.export_folders import exports_among
from kafkatx.stages.judging import Show, diagnosed, shown, united
from kafkatx.stages.models import Telling, build_models, open_evidence
from kafkatx.terms.progress import Progress


def diagnose(
    paths: Iterable[str | Path],
    *,
    selection: Selection | None = None,
    as_of: int | None = None,
    verify_all: bool = False,
    captures: dict[str, str] | None = None,
    progress: Progress | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
    show: Show | None = None,
) -> Diagnosis:
    """Say what went wrong in the evidence under `paths`, or in what `kafkatx export` wrote of it.

    `as_of` is "now" for ages in milliseconds (default: the newest time a broker wrote); `verify_all` checks the CRC
    of every batch; `captures` maps paths to the names of captures they are forced into; `release` is that of the
    brokers, e.g. (2, 5, 1), where the evidence does not tell; `log_zone_ms` what is to be taken from times of logs that
    name no zone (default: estimated from what logs and coordinator both tell); `show` is called with each capture and
    what is said of it, while its model is there. Raises UsageError for a path that does
    not exist and NothingToDiagnoseError (a NothingReadableError) where nothing in it is evidence.
    """
    given, chosen = places.admitted(paths), selection or Selection()
    if folders := exports_among(given):
        from kafkatx.stages.exported import diagnose_exports
        from kafkatx.stages.exports import open_exports

        exported = open_exports(folders, verify_all, captures)
        return diagnose_exports(exported, Telling(as_of, release, log_zone_ms), chosen, show)
    evidence = open_evidence(given, captures)
    others = (coverage_of(None, item, None) for item in evidence.others)
    with readers(evidence.captures) as ahead:
        told_of = build_models(
            evidence.captures, verify_all=verify_all, as_of=as_of, progress=progress, release=release,
            log_zone_ms=log_zone_ms, log=evidence.log, ahead=ahead,
            held_up_to=HELD_UP_TO if show is None else None,
        )  # fmt: skip
        return united((shown(told, diagnosed(told, chosen), show) for told in told_of), others)
