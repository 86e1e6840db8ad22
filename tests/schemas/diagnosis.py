"""Schema of a diagnosis. Whatever a rule says in `facts` follows from its classes of facts."""

from __future__ import annotations

from kafkatx.findings.diagnosis import FailureCounts, Selected
from kafkatx.findings.finding import NotCheckable, Subject
from kafkatx.outputs.answer import AnswerState
from kafkatx.outputs.diagnosis_json import SCHEMA
from kafkatx.rules.registry import RULES
from kafkatx.segments.damage import Damage
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Remedy
from tests.schemas.shapes import (
    BOOLEAN,
    COUNT,
    INTEGER,
    STRING,
    TIME,
    Schema,
    Shapes,
    array,
    choice,
    document,
    names_of,
    or_null,
    record,
    values_of,
)
from tests.schemas.shared import DAMAGES, coverage_row, failure, head, next_evidence, place, producer

NUMBERS = array(COUNT)
"""Places in a list of the same document, counted from 0."""


def diagnosis() -> Schema:
    """Return the schema of `diagnose --format json`."""
    shapes = Shapes()
    not_checkable = shapes.as_it_is(NotCheckable)
    shapes.definitions["NotCheckable"] = _with(shapes.definitions["NotCheckable"], capture=STRING)
    shown = {
        **head(SCHEMA),
        "answer": shapes.define("Answer", _answer(shapes)),
        "next": array(next_evidence(shapes)),
        "coverage": array(shapes.define("Coverage", coverage_row())),
        "findings": array(shapes.define("Finding", _finding(shapes))),
        "not_checkable": array(not_checkable),
        "damage": array(shapes.as_it_is(Damage, kind=DAMAGES)),
    }
    return document("What kafkatx diagnose --format json prints", shown, shapes, {"error": failure(shapes)})


def _with(found: Schema, **more: Schema) -> Schema:
    return record({**found["properties"], **more})


def _answer(shapes: Shapes) -> Schema:
    return record(
        {
            "state": values_of(AnswerState),
            "headline": STRING,
            "worst": or_null(names_of(Severity)),
            "counts": record({severity.name: COUNT for severity in Severity}),
            "root_causes": array(STRING),
            "examined": shapes.define("Examined", examined()),
            "failures": shapes.as_it_is(FailureCounts),
            "selected": or_null(shapes.as_it_is(Selected)),
        }
    )


def examined() -> Schema:
    """Return how much was looked at, and the time that it spans."""
    counts = {name: COUNT for name in ("transactions", "transactional_ids", "producers", "groups")}
    return record({**counts, "from": or_null(TIME), "to": or_null(TIME), "unread_segments": COUNT})


def finding_head(shapes: Shapes) -> dict[str, Schema]:
    """Return what names a finding, whom it is about, and what it says in short."""
    return {
        "id": STRING,
        "key": STRING,
        "rule": choice(*RULES),
        "verdict": names_of(Verdict),
        "severity": names_of(Severity),
        "capture": STRING,
        "cluster_id": or_null(STRING),
        **_subject(shapes),
        "who": or_null(STRING),
        "title": STRING,
        "summary": STRING,
    }


def _finding(shapes: Shapes) -> Schema:
    evidence = array(shapes.define("Evidence", _evidence()))
    shown = record(
        {
            **finding_head(shapes),
            "actors": array(shapes.as_it_is(Actor)),
            "steps": array(shapes.define("Step", _step())),
            "evidence": evidence,
            "against": evidence,
            "considered": array(shapes.define("Considered", _considered())),
            "caused_by": or_null(STRING),
            "contributing": array(STRING),
            "remedies": array(shapes.as_it_is(Remedy)),
            "facts": {"type": "object"},
            "candidates": array(shapes.define("Candidate", _candidate())),
        }
    )
    return {**shown, "allOf": [_facts_of(name, shapes) for name in RULES]}


def _facts_of(name: str, shapes: Shapes) -> Schema:
    """Return what holds of the facts of one rule."""
    kinds = [shapes.facts(words.facts) for words in RULES[name].words]
    facts = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return {"if": {"properties": {"rule": {"const": name}}}, "then": {"properties": {"facts": facts}}}


def _subject(shapes: Shapes) -> dict[str, Schema]:
    return {
        "transactional_id": or_null(STRING),
        **producer(),
        **place(),
        "first_offset": or_null(INTEGER),
        "last_offset": or_null(INTEGER),
        "from": or_null(TIME),
        "to": or_null(TIME),
        "has_zone": BOOLEAN,
        "count": COUNT,
        "subjects": array(shapes.as_it_is(Subject)),
    }


def _step() -> Schema:
    return record({"text": STRING, "because": or_null(STRING), "evidence": NUMBERS})


def _considered() -> Schema:
    told = {"rule": STRING, "because": STRING, "refuted": BOOLEAN, "decided_by": or_null(STRING)}
    return record({**told, "evidence": NUMBERS})


def _candidate() -> Schema:
    told = {"rule": STRING, "for": or_null(STRING), "against": or_null(STRING)}
    return record({**told, "decided_by": NUMBERS})


def _evidence() -> Schema:
    where = {"source": or_null(STRING), "position": or_null(COUNT), "line": or_null(COUNT), **place()}
    return record({**where, "offset": or_null(INTEGER), "at": or_null(TIME), "text": STRING})
