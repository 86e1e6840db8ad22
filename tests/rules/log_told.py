"""Stories that logs tell, alone or beside a cluster's disk, and clients' lines that several tests need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from kafkatx.findings.finding import Finding, NotCheckable
from kafkatx.findings.rule import findings_of
from kafkatx.histories.build import build
from kafkatx.histories.capture_model import CaptureFacts, CaptureModel, Labels
from kafkatx.rules.registry import RULES
from kafkatx.terms.events import EventKind, Level
from kafkatx.text.events import LogFacts
from tests.histories.log_facts import KAFKA_EXCEPTION, Line, facts, line, with_logs
from tests.rules.cluster import Cluster

CLIENT = "client.log"
NETWORK = "kafka-producer-network-thread | producer-orders-1"
ERROR_STATE = "Cannot execute transactional method because we are in an error state"
Check = Callable[[CaptureModel], Iterator[Finding | NotCheckable]]


def rule(name: str) -> Check:
    """Return a rule as a function: a model in, what it finds out."""
    return partial(findings_of, name, RULES[name])


def by_logs(given: Iterable[Line] | LogFacts) -> CaptureModel:
    """Return the model of a capture that is nothing but logs."""
    told = given if isinstance(given, LogFacts) else facts(given)
    nothing = CaptureFacts("logs", None, "", 1, -1, True)
    return with_logs(build(nothing, Labels([], [], []), [], [], {}, {}), told)


def beside(cluster: Cluster, given: Iterable[Line] | LogFacts) -> CaptureModel:
    """Return the model of a cluster's disk with these logs."""
    return with_logs(cluster.model(), given if isinstance(given, LogFacts) else facts(given))


def findings(check: Check, model: CaptureModel) -> list[Finding]:
    """Return what a rule finds."""
    return [result for result in check(model) if isinstance(result, Finding)]


def only(check: Check, model: CaptureModel) -> Finding:
    """Return the one finding of a rule; every line that it cites has a source and a number."""
    (found,) = findings(check, model)
    for place in found.places():
        assert (place.source is not None and place.line is not None) or place.offset is not None
        assert len(place.text) < 260
    return found


class Client:
    """Lines of one Java producer: `said` collects them; times as log_facts takes them."""

    def __init__(self, name: str | None = "orders-1", path: str = CLIENT, release: str = "3.9.1", **columns: Any):
        self.names = {"transactional_id": name, "client_id": f"producer-{name}", "logger": LOGGER, **columns}
        self.path, self.release = path, release
        self.said: list[Line] = []

    def say(self, at: str | int | None, kind: EventKind, **columns: Any) -> Client:
        """Add a line of the client's own."""
        self.said.append(line(self.path, at, kind, **{**self.names, **columns}))
        return self

    def start(self, at: str | int | None, producer_id: int = 7, epoch: int = 0) -> Client:
        """Make it, and give it a producer id."""
        self.say(at, EventKind.client_started, detail="transactional producer")
        self.say(at, EventKind.client_release, detail=self.release)
        self.say(at, EventKind.init_called)
        return self.given(at, producer_id, epoch)

    def given(self, at: str | int | None, producer_id: int = 7, epoch: int = 0) -> Client:
        """Give it a producer id."""
        return self.say(at, EventKind.producer_id_set, producer_id=producer_id, producer_epoch=epoch, thread=NETWORK)

    def threw(
        self,
        at: str | int | None,
        call: str,
        exception: str,
        message: str = "",
        *,
        wrapped: str | None = None,
        level: Level = Level.error,
        **columns: Any,
    ) -> Client:
        """Let a call throw, as the application logs it; `wrapped` is the message of the outer KafkaException."""
        chain = [(exception, message)]
        if wrapped is not None:
            chain.insert(0, (KAFKA_EXCEPTION, wrapped))
        given = {"error": exception, "detail": message, "thread": "main", "logger": "com.example.App", **columns}
        return self.say(at, EventKind.failure, level=level, thrown=chain, calls=(call,), **given)

    def fatal(self, at: str | int | None, exception: str, message: str = "") -> Client:
        """Let it say that its state is fatal (2.6 and later)."""
        return self.say(at, EventKind.to_fatal, error=exception, detail=message, thread=NETWORK)

    def abortable(self, at: str | int | None, exception: str, message: str = "") -> Client:
        """Let it say that its state is abortable (2.6 and later)."""
        return self.say(at, EventKind.to_abortable, error=exception, detail=message, thread=NETWORK)

    def aborts(self, at: str | int | None) -> Client:
        """Let abortTransaction be called (2.6 and later)."""
        return self.say(at, EventKind.abort_called, thread="main")


LOGGER = "org.apache.kafka.clients.producer.internals.TransactionManager"
