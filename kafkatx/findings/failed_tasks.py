"""Tasks of Kafka Connect that ended for good: whoever hears of the cause must hear that the task stays away.

Connect ends a task at the first exception that it does not know and tries nothing again: the task is FAILED, the
connector may still be RUNNING, and only a restart brings it back. The line stands on a page
(text/prose/statements.py); it belongs to the findings about what the same text told at that line or before.

Source  WorkerTask.doRun, ConnectorsResource.restartTask (POST /connectors/{connector}/tasks/{task}/restart).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from kafkatx.findings.finding import Finding
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.line_owners import SAME_EXCEPTION_MS
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.terms.regex import regex
from kafkatx.terms.verdicts import Severity
from kafkatx.text.connect_status import FAILED_CONNECTOR, FAILED_TASK
from kafkatx.text.events import Statement
from kafkatx.words.explanation import remedy, step
from kafkatx.words.log_refs import testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Refs, facts

KILLED = "task_killed"
NEXT_LINES = 3
"""Lines behind a failure within which a task ended by it, where no times tell."""
MOST_TASKS = 3
"""Tasks that one finding names."""
NAMELESS = "CONNECTOR/tasks/NUMBER"
"""What is restarted where no line names it."""
_TASK = regex(r"Task\{id=(?P<connector>[^{}]+)-(?P<number>\d+)\}")
_IN_STATUS = regex(r"(?P<connector>.+)-(?P<number>\d+): state FAILED")
_CONNECTOR = regex(r"(?P<connector>.+): state FAILED")


@facts
class FailedTask:
    """A task by its connector and number, None of which: the connector itself; no connector: no line names the task.

    `in_url` is what is restarted, as an address takes it.
    """

    connector: str | None
    in_url: str
    number: int | None
    lines: Refs


WHAT = pick(
    "connector",
    {None: "A task"},
    pick("number", {None: "Connector {connector}"}, "Task {number} of connector {connector}"),
)
ENDED = step((WHAT, " ended with it and is FAILED: Kafka Connect does not try again"), cites="lines")
RESTART = remedy(
    (WHAT, " is FAILED until somebody restarts it: mend the cause first"),
    "operator",
    command="curl -X POST http://HOST:8083/connectors/{in_url}/restart",
)


def with_failed_tasks(model: CaptureModel, finding: Finding) -> Finding:
    """Tell of the tasks that ended by what a finding is about: then an application is down, whatever it else is."""
    is_asked = finding.severity > Severity.info or finding.is_unexplained
    tasks = [one for one in _tasks(model, finding) if is_asked or _is_at_once(model, finding, one)][:MOST_TASKS]
    if not tasks:
        return finding
    steps = (said for one in tasks if (said := ENDED.said(one)) is not None)
    remedies = (advice for one in tasks if (advice := RESTART.said(one)) is not None)
    return replace(
        finding,
        severity=max(finding.severity, Severity.error) if not is_asked else finding.severity,
        steps=(*finding.steps, *steps),
        remedies=(*finding.remedies, *remedies) if is_asked else (*remedies, *finding.remedies),
    )


def _is_at_once(model: CaptureModel, finding: Finding, task: FailedTask) -> bool:
    """Whether a task ended right behind the last line that a finding cites, and so by nothing else."""
    last = task.lines[0]
    said = next((one for one in statements_of(model.logs, last.source or "") if one.line == last.line), None)
    if said is not None and said.at >= 0 and finding.until is not None:
        return 0 <= said.at - finding.until <= SAME_EXCEPTION_MS
    lines = [place.line for place in finding.places() if place.source == last.source and place.line is not None]
    above = NEXT_LINES if task.connector is None else 0
    return bool(lines) and -above <= (last.line or 0) - max(lines) <= NEXT_LINES


def _tasks(model: CaptureModel, finding: Finding) -> Iterator[FailedTask]:
    """Tasks that ended at, or behind, the first line that a finding cites; by times where the newest line is first.

    Of a status only those whose own trace the finding cites. The exception by which a task ends names none, and stands
    above its cause: where no task is named, it is told of one.
    """
    cited: dict[str, set[int]] = {}
    for place in finding.places():
        if place.source is not None and place.line is not None:
            cited.setdefault(place.source, set()).add(place.line)
    seen = set[tuple[str, str | None]]()
    nameless: FailedTask | None = None
    for path, lines in cited.items():
        for said in statements_of(model.logs, path):
            found = _found(finding, lines, said)
            if found is not None and (whom := (found["connector"], found.groupdict().get("number"))) not in seen:
                seen.add(whom)
                yield _task(*whom, path, said)
            elif found is None and nameless is None and _is_nameless(lines, said):
                nameless = FailedTask(None, NAMELESS, None, testimony_refs(path, (said,)))
    if nameless is not None and not seen:
        yield nameless


def _is_nameless(lines: set[int], said: Statement) -> bool:
    """Whether a statement is the exception by which a task ended, around the lines that a finding cites."""
    return said.name == KILLED and _TASK.search(said.text) is None and said.line >= min(lines) - NEXT_LINES


def _found(finding: Finding, lines: set[int], said: Statement) -> re.Match[str] | None:
    """The task or connector that a statement tells of, where it ended by what a finding is about."""
    if said.name in (FAILED_TASK, FAILED_CONNECTOR):
        shape = _IN_STATUS if said.name == FAILED_TASK else _CONNECTOR
        return shape.fullmatch(said.text) if said.line in lines else None
    is_behind = said.line >= min(lines) or (finding.since is not None and said.at >= finding.since)
    return _TASK.search(said.text) if said.name == KILLED and is_behind else None


def _task(connector: str, number: str | None, path: str, said: Statement) -> FailedTask:
    in_url = quote(connector, safe="") + (f"/tasks/{number}" if number is not None else "")
    return FailedTask(connector, in_url, int(number) if number is not None else None, testimony_refs(path, (said,)))
