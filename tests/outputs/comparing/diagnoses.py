"""Small diagnoses to compare: findings and files of one cluster, what a test is about, and defaults."""

from typing import Any

from kafkatx.evidence.coverage import Coverage
from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, Examined, FailureCounts, OpenedRef, Selected
from kafkatx.findings.finding import Finding, NotCheckable
from kafkatx.outputs.comparing.compared import Comparison, compare
from kafkatx.outputs.comparing.document import DiagnosisDocument, document_of
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import EvidenceRef, Step

MINUTE = 60_000
TEN = 1_795_255_200_000
CLUSTER = "cluster-1"
EVENT, LASTING = "fenced_by_new_instance", "open_transaction"
"""Rules of what happens once, and of what stands until somebody ends it."""
PAYMENTS = {"transactional_id": "payments-1", "producer_id": 7, "producer_epoch": 0}
ORDERS = {"topic": "orders", "partition": 0, "first_offset": 5}


def found(
    name: str = "a",
    rule: str = EVENT,
    *,
    severity: Severity = Severity.error,
    verdict: Verdict = Verdict.proved,
    cluster_id: str | None = CLUSTER,
    title: str = "it went wrong",
    places: tuple[EvidenceRef, ...] = (),
    caused_by: str | None = None,
    minute: float | None = 0,
    minutes: float = 1,
    **about: Any,
) -> Diagnosed:
    """A finding that began some minutes after ten and lasted some; None: at a time that is not known."""
    times = {} if minute is None else {"since": int(TEN + minute * MINUTE), "until": at(minute + minutes)}
    finding = Finding(
        rule, verdict, severity, title, f"summary of {name}", steps=(Step("it stands there", None, places),),
        **{"who": about.get("transactional_id"), **times, **about},
    )  # fmt: skip
    opened = [OpenedRef(place, place.source or f"{place.topic}-{place.partition}/x.log", 0, True) for place in places]
    return Diagnosed(name, "capture", cluster_id, finding, opened, caused_by)


def at(minute: float) -> int:
    return int(TEN + minute * MINUTE)


def place(topic: str = "orders", partition: int = 0, offset: int = 5) -> EvidenceRef:
    return EvidenceRef(topic, partition, offset, None, "a batch")


def line(source: str = "logs/app.log") -> EvidenceRef:
    return EvidenceRef(None, None, None, None, "a line", source, 3)


def segment(topic: str = "orders", last: int = 9, *, first: int = 0, since: float = -9, **more: Any) -> Coverage:
    """Partition 0 of a topic, a file of it."""
    path = f"data/{topic}-0/{first:020}.log"
    times = {"first_timestamp": at(since), "last_timestamp": at(since + 1)}
    about = {"topic": topic, "partition": 0, "first_offset": first, "last_offset": last, "status": "read"}
    names = {"capture": "capture", "cluster_id": CLUSTER, "broker_id": 1, "path": path, "kind": "log"}
    return Coverage(**{**names, "bytes": 100 * (last - first + 1), **about, **times, **more})


def program_log(name: str = "app.log", size: int = 1_000, end: float = 5, **more: Any) -> Coverage:
    times = {"first_timestamp": at(-9), "last_timestamp": at(end)}
    names = {"capture": "capture", "cluster_id": CLUSTER, "broker_id": None, "path": f"logs/{name}", "kind": "text-log"}
    return Coverage(**{**names, "bytes": size, "status": "read", **times, **more})


FILES = (segment(), segment("__transaction_state"))


def diagnosis(
    *findings: Diagnosed,
    files: tuple[Coverage, ...] = FILES,
    since: float = -10,
    until: float = 10,
    transactions: int = 3,
    gaps: tuple[NotCheckable, ...] = (),
    selected: Selected | None = None,
    failures: FailureCounts = FailureCounts(),  # noqa: B008
) -> Diagnosis:
    """A diagnosis of evidence between two minutes."""
    examined = Examined(transactions, 1, 1, 0, at(since), at(until)) if transactions else Examined()
    return Diagnosis(list(findings), list(files), [], [("capture", gap) for gap in gaps], examined, selected, failures)


def document(*findings: Diagnosed, **about: Any) -> DiagnosisDocument:
    return document_of(diagnosis(*findings, **about))


def compared(before: Diagnosis, after: Diagnosis) -> Comparison:
    return compare(document_of(before), document_of(after))
