"""The JSON document of a diagnosis read again: checked value by value, into the types that it was written from.

What is compared is always such a document: of evidence that is diagnosed now it is written and read too, so a saved
diagnosis and a new one go one way. Steps, grounds and candidates are not read: nothing is compared by them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import field
from typing import Any, NoReturn

from kafkatx.evidence.coverage import Coverage
from kafkatx.findings.diagnosis import Diagnosis, Examined, FailureCounts
from kafkatx.findings.finding import Finding, NotCheckable
from kafkatx.outputs.answer import AnswerState
from kafkatx.outputs.comparing.json_values import DamagedDocumentError, JsonObject
from kafkatx.outputs.diagnosis_json import SCHEMA, to_json
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Remedy

BEGINNING = regex(rb'(?:\xef\xbb\xbf)?\s*\{\s*"kafkatx"\s*:')
"""What `diagnose --json` writes first; other writers of JSON may order it otherwise (`OWN`)."""
OWN = ("kafkatx", "schema", "answer", "findings")
AGAIN = "write it again with `kafkatx diagnose --json`, or give the evidence itself"


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A place that a finding cites: a batch or an entry where topic, partition and offset are known, else a line."""

    source: str | None
    topic: str | None
    partition: int | None
    offset: int | None


@dataclass(frozen=True, slots=True, eq=False)
class DocumentFinding:
    """A finding of a document; `finding` is without its steps. `digest` is of all that the document says of it."""

    id: str
    key: str
    capture: str
    cluster_id: str | None
    finding: Finding
    places: tuple[CitedPlace, ...]
    caused_by: str | None
    digest: str

    @property
    def order(self) -> tuple[int, int, str, str]:
        """In time, then by what it says: an order that does not depend on where it stands in its document."""
        since, until = self.finding.since, self.finding.until
        return since if since is not None else 1 << 62, until if until is not None else 1 << 62, self.id, self.digest


@dataclass(frozen=True, slots=True, eq=False)
class DiagnosisDocument:
    """What a document says; `is_filtered` where options left something out of it."""

    state: AnswerState = AnswerState.nothing_to_judge
    headline: str = ""
    examined: Examined = field(default_factory=Examined)
    failures: FailureCounts = field(default_factory=FailureCounts)
    is_filtered: bool = False
    coverage: tuple[Coverage, ...] = ()
    findings: tuple[DocumentFinding, ...] = ()
    not_checkable: tuple[tuple[str, NotCheckable], ...] = ()


def document_of(diagnosis: Diagnosis) -> DiagnosisDocument:
    """Return what the document of a diagnosis says."""
    return read_document(to_json(diagnosis, "").encode())


def begins_document(head: bytes) -> bool:
    """Whether a file begins as `diagnose --json` writes, whole or not."""
    return BEGINNING.match(head) is not None


def is_document(data: bytes) -> bool:
    """Whether data are one whole JSON object that a diagnosis would be, in any order of its fields."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and all(name in found for name in OWN)


def read_document(data: bytes) -> DiagnosisDocument:
    """Read a document; raises DamagedDocumentError for what is none, or of another schema."""
    try:
        return _document(_parsed(data))
    except RecursionError:
        raise DamagedDocumentError(f"it is no diagnosis: it is nested too deep; {AGAIN}") from None


def _parsed(data: bytes) -> JsonObject:
    try:
        found = json.loads(data.decode("utf-8-sig"), parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise DamagedDocumentError(f"it is damaged at byte {error.start}: no UTF-8; {AGAIN}") from None
    except json.JSONDecodeError as error:
        raise DamagedDocumentError(f"it is damaged or cut in line {error.lineno}: no whole JSON; {AGAIN}") from None
    except ValueError:
        raise DamagedDocumentError(f"it holds a number that is none of a diagnosis; {AGAIN}") from None
    if not isinstance(found, dict) or "schema" not in found or not {"answer", "findings", "coverage"} <= found.keys():
        raise DamagedDocumentError(f"it is no document of `kafkatx diagnose`; {AGAIN}")
    return JsonObject(found)


def _refused(constant: str) -> NoReturn:
    raise ValueError(constant)


def _document(whole: JsonObject) -> DiagnosisDocument:
    schema = whole.optional_integer("schema")
    if schema != SCHEMA:
        raise DamagedDocumentError(f"it has schema {schema}, and this release compares schema {SCHEMA}; {AGAIN}")
    answer = whole.object("answer")
    state = answer.choice("state", AnswerState)
    if state is AnswerState.failed:
        raise DamagedDocumentError(f"it is of a diagnosis that failed; {AGAIN}")
    return DiagnosisDocument(
        state,
        answer.text("headline"),
        _examined(answer.object("examined")),
        _failures(answer.object("failures")),
        answer.values.get("selected") is not None,
        tuple(map(_coverage, whole.objects("coverage"))),
        tuple(map(_finding, whole.objects("findings"))),
        tuple(map(_not_checkable, whole.objects("not_checkable"))),
    )


def _examined(told: JsonObject) -> Examined:
    return Examined(
        told.count("transactions"),
        told.count("transactional_ids"),
        told.count("producers"),
        told.count("groups"),
        told.time("from"),
        told.time("to"),
        told.optional_integer("unread_segments") or 0,
    )


def _failures(told: JsonObject) -> FailureCounts:
    return FailureCounts(told.count("told"), told.count("explained"), told.count("unexplained"), told.count("excused"))


def _coverage(told: JsonObject) -> Coverage:
    return Coverage(
        told.optional_text("capture"),
        told.optional_text("cluster_id"),
        told.optional_integer("broker_id"),
        told.text("path"),
        told.text("kind"),
        told.count("bytes"),
        told.optional_text("topic"),
        told.optional_integer("partition"),
        told.optional_integer("first_offset"),
        told.optional_integer("last_offset"),
        told.time("from"),
        told.time("to"),
        status=told.text("status"),
        note=told.optional_text("note"),
    )


def _not_checkable(told: JsonObject) -> tuple[str, NotCheckable]:
    return told.text("capture"), NotCheckable(told.text("rule"), told.text("scope"), told.text("missing"))


def _finding(told: JsonObject) -> DocumentFinding:
    return DocumentFinding(
        told.text("id"),
        told.text("key"),
        told.text("capture"),
        told.optional_text("cluster_id"),
        _said(told),
        tuple(map(_place, told.objects("evidence"))),
        told.optional_text("caused_by"),
        hashlib.sha256(json.dumps(told.values, sort_keys=True).encode()).hexdigest(),
    )


def _said(told: JsonObject) -> Finding:
    return Finding(
        told.text("rule"),
        told.choice("verdict", Verdict),
        told.choice("severity", Severity),
        told.text("title"),
        told.text("summary"),
        told.optional_text("who"),
        remedies=tuple(map(_remedy, told.objects("remedies"))),
        facts=_moment(told),
        has_zone=told.optional_truth("has_zone") is not False,
        transactional_id=told.optional_text("transactional_id"),
        producer_id=told.optional_integer("producer_id"),
        producer_epoch=told.optional_integer("producer_epoch"),
        topic=told.optional_text("topic"),
        partition=told.optional_integer("partition"),
        first_offset=told.optional_integer("first_offset"),
        last_offset=told.optional_integer("last_offset"),
        since=told.time("from"),
        until=told.time("to"),
        count=told.count("count"),
    )


def _moment(told: JsonObject) -> dict[str, Any]:
    """Of the facts only when it happened."""
    facts = told.object("facts")
    at = facts.values.get("at")
    return {} if not isinstance(at, str) or facts.time("at") is None else {"at": at}


def _place(told: JsonObject) -> CitedPlace:
    return CitedPlace(
        told.optional_text("source"),
        told.optional_text("topic"),
        told.optional_integer("partition"),
        told.optional_integer("offset"),
    )


def _remedy(told: JsonObject) -> Remedy:
    return Remedy(
        told.text("text"),
        told.text("where"),
        told.optional_text("config"),
        told.optional_text("current"),
        told.optional_text("proposed"),
        told.optional_text("derived_from"),
        told.optional_text("command"),
        told.optional_text("cost"),
        told.optional_truth("restart_needed"),
    )
