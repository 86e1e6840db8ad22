"""No cause comes later than what it caused, in any recorded case."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cases.judging import diagnosed
from tests.evidence import cases

CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_cause_begins_when_its_effect_is_over(case: Path) -> None:
    """But a hard stop, which takes what was written before it and was not on the disk yet."""
    findings = {finding["id"]: finding for finding in diagnosed(case)["findings"]}
    for effect in findings.values():
        for name in filter(None, (effect["caused_by"], *effect["contributing"])):
            cause = findings[name]
            if cause["facts"].get("own_log") != "HARD_STOP":
                assert not is_later(cause, effect), (cause["summary"], effect["summary"])


def is_later(cause: dict[str, Any], effect: dict[str, Any]) -> bool:
    """Whether a cause began after its effect had ended."""
    since, until = cause["from"], effect["to"]
    return None not in (since, until) and datetime.fromisoformat(since) > datetime.fromisoformat(until)
