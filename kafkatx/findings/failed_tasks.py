"""Tasks of Kafka Connect that ended for good: whoever hears of the cause must hear that the task stays away.

Connect ends a task at the first exception that it does not know and tries nothing again: the task is FAILED, the
connector may still be RUNNING, and only a restart brings it back. The line stands on a page (text/statements.py); it
belongs to the findings about what the same text told at that line or before.

Source  WorkerTask.doRun, ConnectorsResource.restartTask (POST /connectors/{connector}/tasks/{task}/restart).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from kafkatx.findings.finding import Finding
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.terms.verdicts import Severity
from kafkatx.text.events import Statement
from kafkatx.words.explanation import remedy, step
from kafkatx.words.log_refs import testimony_refs
from kafkatx.words.values import Refs, facts

KILLED = "task_killed"
MOST_TASKS = 3
"""Tasks that one finding names."""
_TASK = re.compile(r"Task\{id=(?P<connector>[^{}]+)-(?P<number>\d+)\}")


@facts
class FailedTask:
    """A task by its connector and number; `in_url` is the connector's name as an address takes it."""

    connector: str
    in_url: str
    number: int
    lines: Refs


ENDED = step(
    "Task {number} of connector {connector} ended with it and is FAILED: Kafka Connect does not try again",
    cites="lines",
)
RESTART = remedy(
    "Task {number} of connector {connector} is FAILED until somebody restarts it: mend the cause first",
    "operator",
    command="curl -X POST http://HOST:8083/connectors/{in_url}/tasks/{number}/restart",
)


def with_failed_tasks(model: CaptureModel, finding: Finding) -> Finding:
    """Tell of the tasks that ended by what a finding is about."""
    if finding.severity is Severity.info and not finding.is_unexplained:
        return finding
    tasks = list(_tasks(model, finding))[:MOST_TASKS]
    steps = (said for one in tasks if (said := ENDED.said(one)) is not None)
    remedies = (advice for one in tasks if (advice := RESTART.said(one)) is not None)
    return replace(finding, steps=(*finding.steps, *steps), remedies=(*finding.remedies, *remedies))


def _tasks(model: CaptureModel, finding: Finding) -> Iterator[FailedTask]:
    """Tasks that ended at, or behind, the first line that a finding cites; by times where the newest line is first."""
    lines: dict[str, int] = {}
    for place in finding.places():
        if place.source is not None and place.line is not None:
            lines[place.source] = min(place.line, lines.get(place.source, place.line))
    seen = set[tuple[str, str]]()
    for path, first in lines.items():
        for said in statements_of(model.logs, path):
            is_behind = said.line >= first or (finding.since is not None and said.at >= finding.since)
            found = _TASK.search(said.text) if said.name == KILLED and is_behind else None
            if found is not None and (found["connector"], found["number"]) not in seen:
                seen.add((found["connector"], found["number"]))
                yield _task(found, path, said)


def _task(found: re.Match[str], path: str, said: Statement) -> FailedTask:
    name = found["connector"]
    return FailedTask(name, quote(name, safe=""), int(found["number"]), testimony_refs(path, (said,)))
