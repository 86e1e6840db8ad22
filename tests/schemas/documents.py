"""The schemas of all commands that print JSON, by command: what docs/schemas holds."""

from __future__ import annotations

import json
from collections.abc import Callable

from kafkatx.outputs import collect_json, verify_json
from kafkatx.outputs.explain_word import Mention
from kafkatx.outputs.explanations import Explanation
from kafkatx.outputs.parquet import summary
from kafkatx.segments.damage import Damage
from kafkatx.stages.collected import Taken
from kafkatx.tables.catalogue import EXPORTED
from tests.schemas.comparison import comparison
from tests.schemas.diagnosis import diagnosis
from tests.schemas.dumps import dump
from tests.schemas.shapes import BOOLEAN, COUNT, STRING, TIME, Schema, Shapes, array, choice, document, or_null, record
from tests.schemas.shared import DAMAGES, coverage_row, failure, head, next_evidence
from tests.schemas.timelines import history, location


def verification() -> Schema:
    """Return the schema of `verify --format json`."""
    shapes = Shapes()
    counts = {"batches": COUNT, "records": or_null(COUNT), "preallocated_bytes": COUNT}
    damage = array(shapes.as_it_is(Damage, kind=DAMAGES))
    coverage = array(shapes.define("Coverage", coverage_row(**counts)))
    shown = {**head(verify_json.SCHEMA), "coverage": coverage, "damage": damage, "ordinary": damage}
    return document("What kafkatx verify --format json prints", shown, shapes)


def collection() -> Schema:
    """Return the schema of `collect --format json`."""
    shapes = Shapes()
    shown = {
        **head(collect_json.SCHEMA),
        "transactional_ids": array(STRING),
        "findings": array(STRING),
        "bytes": COUNT,
        "taken": array(shapes.as_it_is(Taken)),
        "widened": or_null(STRING),
        "is_alike": BOOLEAN,
        "as_of": or_null(TIME),
        "out": or_null(STRING),
        "mapping": or_null(STRING),
        "notes": array(STRING),
        "next": array(next_evidence(shapes)),
    }
    return document("What kafkatx collect --format json prints", shown, shapes)


def explanation() -> Schema:
    """Return the schema of `explain --json`."""
    shapes = Shapes()
    shown = {
        "schema": {"const": 1},
        "word": STRING,
        "kafka_version": or_null(STRING),
        "explanations": array(shapes.as_it_is(Explanation)),
        "mentions": array(shapes.as_it_is(Mention)),
        "notes": array(STRING),
    }
    return document("What kafkatx explain --json prints", shown, shapes)


def export() -> Schema:
    """Return the schema of `export --format json`."""
    shapes = Shapes()
    table = record({"name": choice(*EXPORTED), "rows": COUNT, "bytes": COUNT, "files": COUNT})
    shown = {
        **head(summary.SCHEMA),
        "out": or_null(STRING),
        "run_id": or_null(STRING),
        "is_new": BOOLEAN,
        "runs": array(STRING),
        "tables": array(shapes.define("Table", table)),
        "taken_over": array(choice(*EXPORTED)),
        "changed_inputs": array(STRING),
    }
    return document("What kafkatx export --format json prints", shown, shapes, {"error": failure(shapes)})


DOCUMENTS: dict[str, Callable[[], Schema]] = {
    "collect": collection,
    "compare": comparison,
    "diagnose": diagnosis,
    "dump": dump,
    "explain": explanation,
    "export": export,
    "history": history,
    "locate": location,
    "verify": verification,
}
"""What makes the schema of each command; of `dump` it is that of a line."""


def schema_text(command: str) -> str:
    """Return the file of a command's schema."""
    return json.dumps(DOCUMENTS[command](), indent=1) + "\n"
