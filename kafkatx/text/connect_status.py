"""Tasks and connectors that Kafka Connect's own status shows as FAILED: what its REST API answers, pasted as text.

A status names the connector, then each task with its number, its state, its worker and, of one that failed, the trace.
It is JSON in one line or many, the same in YAML (Strimzi's resource), or a record of the topic that keeps statuses.
What has no worker beside its state is no status of Kafka Connect. A connector that the status leaves unnamed is named
by the address that was asked, else by nobody, and then nothing is told.

Source  ConnectorsResource (/connectors/{connector}/status, /tasks/{task}/status), ConnectorStateInfo, 0.10 to 4.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkatx.terms.regex import regex
from kafkatx.text.events import Statement
from kafkatx.text.lines import Readable, lines

FAILED_TASK, FAILED_CONNECTOR = "task_status", "connector_status"
NEAR = 240
"""Characters around a state in which its object says whose it is; a trace, which may be long, stands behind them."""
_Q = r"[\"'\\]{0,4}"
_FAILED = regex(rf"\bstate{_Q}\s*:\s*{_Q}FAILED\b")
_WORKER = regex(rf"\bworker_?id{_Q}\s*:", re.IGNORECASE)
_TRACE = regex(rf"\btrace{_Q}\s*:(?: ?[|>][+-]?[ \t]*\n\s*)?")
_ID = regex(rf"(?:^|[\s{{,\"'\\]|- )id{_Q}\s*:\s*{_Q}(?P<number>\d{{1,6}})\b")
_NAME = regex(rf"(?<![\w.-])name{_Q}\s*:\s*{_Q}(?P<name>[^\"'\\,\s{{}}][^\"'\\,\n{{}}]{{0,119}})")
_ADDRESS = regex(r"/connectors/(?P<name>[\w.%-]{1,120})/(?:tasks/\d{1,6}/)?status\b")
_BOUNDS = regex(r"[{}]|\n\s*- ")
"""Between two objects of a status."""


def failed_in_status(page: Readable) -> Iterator[Statement]:
    """Yield one statement for each task or connector that failed, at the line of its trace (else of its state)."""
    told = list(lines(page))
    text = "\n".join(line.text for line in told)
    for found in _FAILED.finditer(text):
        before = text[max(0, found.start() - NEAR) : found.start()]
        before = before[max((bound.end() for bound in _BOUNDS.finditer(before)), default=0) :]
        behind = text[found.end() : found.end() + NEAR]
        if not (_WORKER.search(before) or _WORKER.search(behind)) or (name := _named(text, found.start())) is None:
            continue
        number = _ID.search(before) or _ID.search(_TRACE.split(behind)[0])
        trace = _TRACE.search(before) or _TRACE.search(behind)
        is_before = trace is not None and _TRACE.search(before) is not None
        at = found.start() if trace is None or is_before else found.end() + trace.end()
        line = told[min(text.count("\n", 0, at), len(told) - 1)].number
        if number is not None:
            yield Statement(FAILED_TASK, line, f"{name}-{number['number']}: state FAILED")
        else:
            yield Statement(FAILED_CONNECTOR, line, f"{name}: state FAILED")


def _named(text: str, at: int) -> str | None:
    """The connector whose status goes on at a place: the last name before it, else that of the address asked."""
    names = [found["name"].strip() for found in _NAME.finditer(text, 0, at)]
    if names:
        return names[-1]
    asked = {found["name"] for found in _ADDRESS.finditer(text)}
    return asked.pop() if len(asked) == 1 else None
