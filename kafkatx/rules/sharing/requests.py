"""Two owners of one transactional.id as the brokers' request log shows them: clients that initialise it in turns."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.sharing.owners import CRASH_LOOP, TURNS, WINDOW_MS, id_of_its_own
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, actor, left_open, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Refs, facts

MOST_ASKERS = 4


@dataclass(frozen=True, slots=True)
class Asker:
    """A client behind requests, as P1, P2: its client.id and host."""

    name: str
    client_id: str
    host: str


@facts
class RequestFacts:
    """An id that clients initialised in turns; of many of them the first ones are `askers`."""

    id: str
    count: Count
    clients: Count
    askers: tuple[Asker, ...]
    lines: Refs


def in_requests(model: CaptureModel) -> Iterator[Case]:
    """One case for each id that two clients initialised in turns while both were alive."""
    logs = model.logs
    requests: dict[str, list[int]] = {}
    for row in logs.of_kind(EventKind.request_seen).tolist():
        name = logs.string(row, "transactional_id")
        if name is not None and logs.at(row) is not None:
            requests.setdefault(name, []).append(row)
    for name in sorted(requests):
        turns = _requests_in_turns(logs, sorted(requests[name], key=lambda row: int(logs.times[row])))
        if len(turns) > TURNS and not hands_ids_on(model, name):
            yield _case(model, name, turns)


def _requests_in_turns(logs: LogModel, rows: list[int]) -> list[int]:
    """The longest run of InitProducerId requests each of which came while the client that asked before goes on."""
    inits = [row for row in rows if (logs.string(row, "api") or "").upper().replace("_", "") == "INITPRODUCERID"]
    newest = {_asker(logs, row): int(logs.times[row]) for row in rows}
    runs = [inits[:1]]
    for row in inits[1:]:
        last = runs[-1][-1]
        if _asker(logs, row) == _asker(logs, last):
            continue
        goes_on = newest[_asker(logs, last)] > logs.times[row]
        soon = logs.times[row] - logs.times[last] <= WINDOW_MS
        if goes_on and soon:
            runs[-1].append(row)
        else:
            runs.append([row])
    return max(runs, key=len)


def _asker(logs: LogModel, row: int) -> tuple[str, str]:
    """client.id and host behind a request."""
    return logs.string(row, "client_id") or "", (logs.string(row, "detail") or "").rpartition(":")[0]


def _case(model: CaptureModel, transactional_id: str, rows: list[int]) -> Case:
    logs = model.logs
    since, until = times_of(logs, rows)
    askers = list(dict.fromkeys(_asker(logs, row) for row in rows))
    return Case(
        facts=RequestFacts(
            id=transactional_id,
            count=Count(len(rows)),
            clients=Count(len(askers)),
            askers=tuple(Asker(f"P{number}", *asker) for number, asker in enumerate(askers[:MOST_ASKERS], start=1)),
            lines=event_refs(model, rows, 6),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=transactional_id,
        producer_id=only(number for row in rows if (number := logs.number(row, "producer_id")) is not None),
        since=since,
        until=until,
        count=len(rows) - 1,
    )


REQUEST_WORDS = Words(
    RequestFacts,
    title="used by {clients:plain} clients at once",
    summary="{clients:plain} clients[ {perhaps}] used {id} at the same time: they sent InitProducerId in turns, "
    "{count:time}. Each one fences the producer before it.",
    actors=(actor("{each.name}", "client.id {each.client_id}, host {each.host}", each="askers"),),
    steps=(
        step(
            "{clients:plain} clients sent InitProducerId in turns, each while the one before went on sending requests",
            "client.id and host in the brokers' request log",
            cites="lines",
        ),
    ),
    considered=(
        ruled_out(CRASH_LOOP, "each client still sent requests after the next one had initialised"),
        left_open(
            "one application that fails over and back",
            "its hosts may take turns",
            decided_by="a refusal of one client while it works, in the logs of both,",
        ),
    ),
    remedies=(id_of_its_own(),),
)
