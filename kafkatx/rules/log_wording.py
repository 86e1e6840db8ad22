"""Lines of logs as places, and phrases for clients and what went wrong with them, for all rules that read logs."""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.histories.logs.story import ClientInstance, Failure, LogStory
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Actor, Place
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock, duration
from kafkatx.terms.topics import TRANSACTION_STATE

MOST_QUOTED = 160
"""Characters of a line's own words in the text of a place."""
MOST_PLACES = 6
"""Lines that one step cites; of more the first ones and the last."""
WORDS: dict[EventKind, tuple[str, str]] = {
    EventKind.client_started: ("a client was made", "detail"),
    EventKind.client_release: ("the client library says its release", "detail"),
    EventKind.init_called: ("initTransactions asked for a producer id", ""),
    EventKind.init_bump: ("the client asked for a new epoch of its own producer id", "producer_id producer_epoch"),
    EventKind.producer_id_set: ("the client was given a producer id", "producer_id producer_epoch"),
    EventKind.to_abortable: ("the client went into its abortable error state", "error detail"),
    EventKind.to_fatal: ("the client went into its fatal error state", "error detail"),
    EventKind.abort_called: ("abortTransaction was called", ""),
    EventKind.abort_on_close: ("close() aborted the open transaction", ""),
    EventKind.client_closing: ("close() was called", "number_ms"),
    EventKind.force_closed: ("close() gave up waiting for requests", "number_ms"),
    EventKind.produce_retry: ("a produce request failed and was retried", "place error correlation_id attempts"),
    EventKind.produce_failed: ("a produce request failed for good", "place error correlation_id"),
    EventKind.batch_expired: ("a batch passed delivery.timeout.ms", "place number_ms records"),
    EventKind.batches_failed: ("the client threw its unsent records away", "error detail"),
    EventKind.sequence_reset: ("sequence numbers began anew", "place sequences"),
    EventKind.idempotent_bump: ("the client raised its own epoch, acknowledgements were missing", "place sequences"),
    EventKind.coordinator_found: ("the client found its coordinator", "node detail"),
    EventKind.request_enqueued: ("a transactional request was queued", "api"),
    EventKind.await_timeout: ("the call gave up waiting", "api number_ms"),
    EventKind.failure: ("the client's log shows", "cause api"),
    EventKind.unstable_offsets: ("the consumer waits for offsets of an open transaction", "place"),
    EventKind.poll_timeout: ("poll() came too late, the consumer left its group", ""),
    EventKind.group_lost: ("the member lost its place in the group", "error detail"),
    EventKind.rebalance: ("partitions were assigned anew", "detail"),
    EventKind.client_state: ("the client's transaction changed state", "detail api"),
    EventKind.commit_called: ("commit was called", ""),
    EventKind.begin_called: ("a transaction was begun", ""),
    EventKind.fenced: ("the client says it was fenced", "error detail"),
    EventKind.concurrent_transactions: ("CONCURRENT_TRANSACTIONS was answered", "transactional_id api"),
    EventKind.node_disconnected: ("a connection was lost", "node"),
    EventKind.connection_failed: ("a connection could not be made", "node detail"),
    EventKind.request_timed_out: ("a request was not answered in time", "node api number_ms correlation_id"),
    EventKind.request_cancelled: ("a request was given up with its connection", "node api number_ms correlation_id"),
    EventKind.bootstrap_disconnected: ("a bootstrap server was lost", "detail"),
    EventKind.time_told: ("a line that tells the time", ""),
    EventKind.config_values: ("a configuration was printed", "detail"),
    EventKind.initialized: ("InitProducerId was granted", "transactional_id producer_id producer_epoch"),
    EventKind.init_refused: ("InitProducerId was refused", "transactional_id error"),
    EventKind.init_fenced: (
        "InitProducerId of an old epoch was refused",
        "transactional_id producer_epoch other_epoch",
    ),
    EventKind.timeout_rollback: ("the coordinator aborted a transaction that passed its timeout", "transactional_id"),
    EventKind.timeout_rollback_failed: ("the coordinator could not abort what passed its timeout", "transactional_id"),
    EventKind.bad_transition: (
        "the coordinator's state and the marker to send don't fit",
        "transactional_id detail api",
    ),
    EventKind.marker_retry: ("a marker could not be written and was tried again", "transactional_id place error"),
    EventKind.marker_given_up: ("a marker was given up", "transactional_id place error"),
    EventKind.marker_skipped: ("markers of partitions without a leader were skipped", "transactional_id detail"),
    EventKind.marker_repeated: ("a marker came a second time", "producer_id producer_epoch"),
    EventKind.stale_epoch: (
        "a write with an old epoch was refused",
        "place offset producer_id producer_epoch other_epoch",
    ),
    EventKind.sequence_refused: ("a write out of order was refused", "place offset producer_id sequence detail"),
    EventKind.zombie_coordinator: (
        "a marker of an old coordinator was refused",
        "place offset producer_id other_epoch",
    ),
    EventKind.unknown_producer: ("the partition's leader no longer knew the producer id", "place producer_id"),
    EventKind.verification_failed: (
        "a partition could not be shown to belong to the transaction",
        "transactional_id place producer_id error",
    ),
    EventKind.unsupported_format: ("transactional records met an old message format", "place"),
    EventKind.coordinator_elected: ("the broker became coordinator", "state_partition other_epoch"),
    EventKind.coordinator_resigned: ("the broker ceased to be coordinator", "state_partition other_epoch"),
    EventKind.coordinator_loading: ("the coordinator began to load its transactions", "state_partition"),
    EventKind.coordinator_loaded: ("the coordinator had loaded its transactions", "state_partition number_ms"),
    EventKind.coordinator_load_failed: ("the coordinator could not load its transactions", "state_partition error"),
    EventKind.state_append_failed: ("the coordinator could not write a row", "transactional_id error detail"),
    EventKind.not_coordinator: ("the broker was coordinator no longer", "transactional_id other_epoch"),
    EventKind.isr_shrunk: ("replicas fell out of the ISR", "place detail"),
    EventKind.isr_expanded: ("replicas came back to the ISR", "place detail"),
    EventKind.append_refused: ("the leader refused a write", "place error detail"),
    EventKind.broker_fenced: ("the controller gave a broker up", "node"),
    EventKind.broker_unfenced: ("the controller let a broker in", "node"),
    EventKind.broker_starting: ("a broker was starting", "node detail"),
    EventKind.broker_started: ("a broker had started", "node"),
    EventKind.broker_stopping: ("a broker was stopping", "node"),
    EventKind.broker_stopped: ("a broker had stopped", "node"),
    EventKind.unclean_start: ("logs were recovered after a hard stop", ""),
    EventKind.storage_failed: ("storage, descriptors or ports failed", "detail"),
    EventKind.log_truncated: ("a follower threw away the end of its log", "place offset"),
    EventKind.unclean_election: ("a leader was elected outside the ISR", "place"),
    EventKind.leader_changed: ("leadership moved", "place node other_epoch"),
    EventKind.cleaner_stopped: ("the log cleaner stopped or gave a partition up", "place detail"),
    EventKind.member_removed: ("the group coordinator removed a member", "group detail"),
    EventKind.request_seen: (
        "the request logger shows",
        "api client_id transactional_id producer_id producer_epoch error detail",
    ),
    EventKind.feature_changed: ("a feature level changed", "detail"),
    EventKind.fetch_failed: ("a follower could not fetch from its leader", "node place error detail"),
    EventKind.marker_waiting: ("markers waited for a leader", "state_partition node transactional_id"),
    EventKind.marker_resent: ("markers of a decided transaction were sent again", "state_partition detail"),
    EventKind.end_refused: ("EndTxn was refused", "transactional_id error api"),
    EventKind.add_refused: ("AddPartitionsToTxn was refused", "transactional_id error"),
    EventKind.transaction_mixed: ("a plain batch came within an open transaction", "place offset producer_id"),
    EventKind.coordinator_inconsistent: ("the coordinator found what should not be", "transactional_id detail"),
    EventKind.expiry_failed: ("an expired id could not be removed", "transactional_id error"),
    EventKind.transaction_transition: ("the coordinator's state moved", "transactional_id detail api"),
    EventKind.isr_changed: ("the ISR changed", "place detail"),
    EventKind.log_start_moved: ("the log's start moved", "place offset detail"),
    EventKind.log_damaged: ("damage of a log was cut away", "place offset detail"),
    EventKind.ids_allocated: ("a broker took a block of producer ids", "detail"),
    EventKind.id_allocation_failed: ("a broker could not get producer ids", "error"),
    EventKind.mixed_commits: ("a group has plain and transactional commits", "group"),
    EventKind.too_few_brokers: ("__transaction_state could not be created", ""),
    EventKind.log_not_truncated: ("a follower had nothing to truncate", "place offset"),
    EventKind.group_rebalanced: ("the group was rebalanced", "group detail"),
    EventKind.session_expired: ("a session with ZooKeeper expired", "detail"),
    EventKind.broker_release: ("a broker says its release", "detail"),
    EventKind.truncation_asked: ("a follower was asked to truncate", "place offset"),
    EventKind.controller_changed: ("the controller changed", "node"),
    EventKind.broker_failed: ("the controller learned that a broker had failed", "node detail"),
    EventKind.other: ("a line of the catalogue", "detail"),
}
"""What each kind of event is in our words, and which of its columns a reader wants to see."""


def event_place(story: Story, row: int) -> Place:
    """The line of an event, as a place."""
    logs = story.logs
    text = event_text(logs, row)
    return Place(None, None, None, logs.at(row), text, logs.path(row), int(logs.events["line"][row]))


def event_text(logs: LogStory, row: int) -> str:
    """What an event is in our words, with at most MOST_QUOTED characters of its line's own."""
    phrase, columns = WORDS.get(logs.kind(row), WORDS[EventKind.other])
    said = [_shown(logs, row, column) for column in columns.split()]
    parts = ", ".join(part for part in said if part)
    quoted = parts if len(parts) <= MOST_QUOTED else parts[: MOST_QUOTED - 3] + "..."
    return f"{phrase}: {quoted}" if quoted else phrase


def event_places(story: Story, rows: Iterable[int], most: int = MOST_PLACES) -> tuple[Place, ...]:
    """Places of several events, in order; of more than `most` the first ones and the last."""
    chosen = list(dict.fromkeys(int(row) for row in rows))
    if len(chosen) > most:
        chosen = [*chosen[: most - 1], chosen[-1]]
    return tuple(event_place(story, row) for row in chosen)


def client_phrase(client: ClientInstance) -> str:
    """`the producer of payments-1`, or by its client.id where it has no transactional.id."""
    if client.transactional_id is not None:
        return f"the producer of {client.transactional_id}"
    return f"the client {client.client_id}" if client.client_id is not None else "a client that its log doesn't name"


def client_actor(story: Story, client: ClientInstance, name: str = "P") -> Actor:
    """A client as somebody that steps speak of: ids, library, source and the time its lines span."""
    ids = f"transactional.id {client.transactional_id}" if client.transactional_id is not None else ""
    who = [ids, f"client.id {client.client_id}" if client.client_id is not None else "", library(client)]
    given = client.initialisations[-1:]
    who += [f"producer id {one.producer_id} epoch {one.producer_epoch}" for one in given if one.producer_id >= 0]
    log = f"log {story.logs.facts.sources[client.source].path}"
    if client.since is not None and client.until is not None:
        log += f" from {clock(client.since)} to {clock(client.until)}"
    return Actor(name, ", ".join(part for part in (*who, log) if part))


def library(client: ClientInstance) -> str:
    """`kafka-clients 3.9.1`, `librdkafka 2.3.0`, `aiokafka`; empty where nothing tells."""
    name = {"java": "kafka-clients", "unknown": ""}.get(client.implementation, client.implementation)
    release = ".".join(str(number) for number in client.release)
    return f"{name} {release}".strip() if name else ""


def failure_phrase(failure: Failure) -> str:
    """`commitTransaction threw ProducerFencedException`; of a wrapped one the cause is named as well."""
    cause, outer = bare(failure.exception), bare(failure.outer)
    what = cause if not outer or outer == cause else f"{outer} because of {cause}"
    return f"{failure.call} threw {what}" if failure.call else f"its log shows {what}"


def failure_places(story: Story, failure: Failure, most: int = 2) -> tuple[Place, ...]:
    """Lines that show a failure."""
    return event_places(story, failure.rows or (failure.row,), most)


def bare(exception: str) -> str:
    """Class name without its package."""
    return exception.rpartition(".")[2]


def quoted(text: str, most: int = MOST_QUOTED) -> str:
    """A message of a log between quotation marks, cut where it is long."""
    return f'"{text}"' if len(text) <= most else f'"{text[: most - 3]}..."'


def _shown(logs: LogStory, row: int, column: str) -> str:
    """One column of an event as a reader wants it; empty where the line has none."""
    if column in _TEXTS:
        text = logs.string(row, column)
        return f"{_TEXTS[column]}{bare(text) if column == 'error' else text}" if text else ""
    if column in ("place", "state_partition"):
        return _partition(logs, row, TRANSACTION_STATE if column == "state_partition" else logs.string(row, "topic"))
    if column == "cause":
        return _cause(logs, row)
    name = {"number_ms": "number", "attempts": "number", "sequence": "number", "sequences": "number"}.get(
        column, column
    )
    value = logs.number(row, "offset" if column == "records" else name)
    if value is None:
        return ""
    if column == "sequences":
        after = logs.number(row, "offset")
        return f"sequence {value}" + (f" then {after}" if after is not None else "")
    return duration(value) if column == "number_ms" else _NUMBERS[column].format(value)


_TEXTS = {"detail": "", "error": "", "api": "", "transactional_id": "", "client_id": "client.id ", "group": "group "}
"""Columns of strings, with the word that stands before them."""
_NUMBERS = {
    "producer_id": "producer id {}",
    "producer_epoch": "epoch {}",
    "other_epoch": "against epoch {}",
    "node": "node {}",
    "correlation_id": "correlation id {}",
    "attempts": "{} attempts left",
    "sequence": "sequence {}",
    "records": "{} record(s)",
    "offset": "at offset {}",
}


def _partition(logs: LogStory, row: int, topic: str | None) -> str:
    number = logs.number(row, "partition")
    return "" if topic is None else topic if number is None else f"{topic}-{number}"


def _cause(logs: LogStory, row: int) -> str:
    """Root cause of a failure: class and message."""
    error, message = logs.string(row, "error"), logs.string(row, "detail")
    return ": ".join(part for part in (bare(error or ""), message or "") if part)
