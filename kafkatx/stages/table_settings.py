"""Stream of the table of settings, capture by capture; defaults follow what a capture tells of releases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.settings import Block, Effective, Settings
from kafkatx.stages.logs import read_logs
from kafkatx.stages.table_files import Batches
from kafkatx.tables.settings import SETTINGS

ROWS_AT_ONCE = 10_000


def settings_table(captures: Iterable[Capture]) -> Batches:
    """Stream `settings`."""
    for capture in captures:
        facts, _ = read_logs(capture, lambda path, size: None)
        yield from settings_of(capture, LogModel(facts).settings)


def settings_of(capture: Capture, settings: Settings) -> Batches:
    """Stream `settings` of a capture whose logs are read."""
    rows = [_row(capture, settings, block, one) for block, one in settings.in_force()]
    for at in range(0, len(rows), ROWS_AT_ONCE):
        yield SETTINGS.rows(rows[at : at + ROWS_AT_ONCE])


def _row(capture: Capture, settings: Settings, block: Block, effective: Effective) -> dict[str, Any]:
    setting, known = effective.setting, set(effective.defaults)
    return {
        "capture": capture.name,
        "cluster_id": capture.cluster_id,
        "broker_id": settings.broker_of(block),
        "path": settings.sources[block.source].path,
        "line": setting.line if setting else None,
        "scope": effective.scope,
        "client_id": block.text("client.id"),
        "transactional_id": block.text("transactional.id"),
        "name": effective.name,
        "value": effective.value,
        "default_value": known.pop() if len(known) == 1 else None,
        "origin": str(effective.origin),
    }
