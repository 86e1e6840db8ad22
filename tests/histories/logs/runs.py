"""Runs of a cluster with the logs that its broker and clients write beside it, and who ended what in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import FENCED, Line, facts, line, settings, source, with_logs
from tests.rules.cluster import MINUTE, SECOND, Cluster

ID = "orders-1"
SERVER = "broker-1/server.log"
TIMEOUT, CLIENT, NEW, UNKNOWN = EndedBy.timeout, EndedBy.client, EndedBy.new_instance, EndedBy.unknown


@dataclass
class Run:
    """A cluster and the logs that its broker and clients write beside it."""

    cluster: Cluster
    lines: list[Line] = field(default_factory=list)

    def begun(self, client: str = "a", timeout_ms: int = 10 * SECOND) -> None:
        """A producer of client `a` with an open transaction, and the epoch that it logs."""
        self.cluster.init(ID, timeout_ms=timeout_ms)
        self.granted()
        self.given(client)
        self.cluster.run(ID, "orders-0")
        self.cluster.begin(ID, "orders-0")

    def client(self, name: str, kind: EventKind, **columns: object) -> None:
        names = {"client_id": name, "transactional_id": ID}
        self.lines.append(line(f"client-{name}.log", self.cluster.clock, kind, **names, **columns))

    def broker(self, kind: EventKind, **columns: object) -> None:
        self.lines.append(line(SERVER, self.cluster.clock, kind, **columns))

    def given(self, client: str) -> None:
        known = self.cluster.ids[ID]
        self.client(client, EventKind.producer_id_set, producer_id=known.producer_id, producer_epoch=known.epoch)

    def granted(self) -> None:
        known = self.cluster.ids[ID]
        numbers = {"producer_id": known.producer_id, "producer_epoch": known.epoch}
        self.broker(EventKind.initialized, transactional_id=ID, **numbers)

    def fenced(self, client: str) -> None:
        self.client(client, EventKind.to_fatal, error=FENCED)

    def told(self, *without: str) -> CaptureModel:
        """The model with logs of all but some sources; the broker's log goes on after the last event."""
        self.cluster.wait(MINUTE)
        self.cluster.beat()
        last = source(SERVER, first=self.cluster.clock - 60 * MINUTE, last=self.cluster.clock)
        lines = [entry for entry in self.lines if entry.path not in without]
        return with_logs(self.cluster.model(), facts(lines, [last] if SERVER not in without else []))


def ending(model: CaptureModel) -> tuple[EndedBy, Verdict, Reason]:
    """Who ended the id's last aborted transaction."""
    row = aborted(model)
    ended = model.ends
    return EndedBy(int(ended.ended_by[row])), Verdict(int(ended.verdict[row])), Reason(int(ended.reason[row]))


def aborted(model: CaptureModel) -> int:
    (code,) = [number for number, name in enumerate(model.labels.transactional_ids) if name == ID]
    return max(row for row in model.transactions_of(code).tolist() if model.transactions["decision"][row] == 3)


def kinds(model: CaptureModel) -> dict[str, EventKind]:
    """The witnesses of that transaction, by name."""
    rows = model.ends.witnesses.rows_of(aborted(model))
    return {name: model.logs.kind(row) for name, row in rows.items()}


def roll_back(run: Run, over_ms: int = SECOND) -> None:
    run.cluster.time_out(ID, over_ms)
    run.broker(EventKind.timeout_rollback, transactional_id=ID)


def take_over(run: Run, client: str = "b") -> None:
    """A second instance initialises while the transaction is open."""
    run.cluster.wait(2 * SECOND)
    run.cluster.init(ID, timeout_ms=10 * SECOND)
    run.granted()
    run.given(client)


def data_ending(model: CaptureModel) -> tuple[EndedBy, Verdict, Reason]:
    """Who ended the last aborted data, by data and logs alone."""
    ended, last = model.ends, model.ends.numbers(ToldBy.data)[-1]
    return EndedBy(int(ended.ended_by[last])), Verdict(int(ended.verdict[last])), Reason(int(ended.reason[last]))


def without_rows(run: Run, *without: str, timeout: str | None = None) -> CaptureModel:
    """The model of data and logs, the coordinator's partition not being at hand; `timeout` is a setting of client a."""
    run.cluster.logs = {name: log for name, log in run.cluster.logs.items() if not name.startswith("__")}
    lines = [entry for entry in run.lines if entry.path not in without]
    values = {"client.id": "a", "transactional.id": ID, "transaction.timeout.ms": timeout}
    blocks = [settings("client-a.properties", "producer", values)] if timeout else []
    return with_logs(run.cluster.model(), facts(lines, blocks=blocks))
