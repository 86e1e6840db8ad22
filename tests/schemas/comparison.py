"""The schema of `compare --format json`."""

from __future__ import annotations

from kafkatx.findings.diagnosis import FailureCounts
from kafkatx.outputs.answer import AnswerState
from kafkatx.outputs.comparing.as_json import SCHEMA
from kafkatx.outputs.comparing.compared import ComparisonState
from kafkatx.outputs.comparing.covered import Covers, Reason
from kafkatx.terms.verdicts import Severity
from tests.schemas.diagnosis import examined, finding_head
from tests.schemas.shapes import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    STRING,
    Schema,
    Shapes,
    array,
    choice,
    document,
    or_null,
    record,
    values_of,
)
from tests.schemas.shared import head

KINDS = ("new", "recurred", "gone", "ended", "changed", "same")
FIELDS = ("verdict", "severity", "count", "to", "caused_by", "remedies")


def comparison() -> Schema:
    """Return the schema of `compare --format json`."""
    shapes = Shapes()
    counts = shapes.define("Counts", record({severity.name: COUNT for severity in Severity}))
    finding = shapes.define("Finding", _finding(shapes))
    alone = {
        "finding": finding,
        "covered": values_of(Covers),
        "reason": values_of(Reason),
        "why": STRING,
        "instead": array(STRING),
    }
    both = {"before": STRING, "after": STRING, "finding": finding}
    change = record({"field": choice(*FIELDS), "before": ANYTHING, "after": ANYTHING})
    changed = {**both, "has_recurred": BOOLEAN, "changes": array(shapes.define("Change", change))}
    diagnosis = shapes.define("Diagnosis", _diagnosis(shapes, counts))
    answer = {
        "state": values_of(ComparisonState),
        "headline": STRING,
        "counts": record(dict.fromkeys(KINDS, counts)),
        "before": diagnosis,
        "after": diagnosis,
    }
    shown = {
        **head(SCHEMA),
        "answer": shapes.define("Answer", record(answer)),
        "new": array(shapes.define("New", record(alone))),
        "gone": array(shapes.define("Gone", record({**alone, "has_ended": BOOLEAN}))),
        "changed": array(shapes.define("Changed", record(changed))),
        "same": array(shapes.define("Same", record(both))),
    }
    return document("What kafkatx compare --format json prints", shown, shapes)


def _diagnosis(shapes: Shapes, counts: Schema) -> Schema:
    return record(
        {
            "state": values_of(AnswerState),
            "headline": STRING,
            "counts": counts,
            "examined": shapes.define("Examined", examined()),
            "failures": shapes.as_it_is(FailureCounts),
            "is_filtered": BOOLEAN,
        }
    )


def _finding(shapes: Shapes) -> Schema:
    head = {name: schema for name, schema in finding_head(shapes).items() if name != "subjects"}
    return record({**head, "caused_by": or_null(STRING)})
