"""What an entry of a log means: one event, or none.

The text of the message decides; where an exception stands under it whose own text is known, that text does (a leader's
`Error processing append operation` says nothing, the exception under it says all). A line that shows an exception of
Kafka and is nothing else is a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.terms.regex import regex
from kafkatx.text.events import Thrown, Trace
from kafkatx.text.logs.bare import is_told_throw
from kafkatx.text.logs.calls import METHODS, call_in, says_begun, says_initialised, unanswered_in
from kafkatx.text.logs.contexts import LIBRDKAFKA, MARKERS, Context, behind, sends_markers, within
from kafkatx.text.logs.defect_texts import is_evidence
from kafkatx.text.logs.end_of_reading import is_end_of_reading
from kafkatx.text.logs.entries import Entry
from kafkatx.text.logs.exceptions import known_classes, may_throw, named_by_field, own_words, thrown_in
from kafkatx.text.logs.filling import COLUMNS, Row, empty_row, fill, fill_field
from kafkatx.text.logs.fragments import error_of, find_fragment
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, Framed
from kafkatx.text.logs.matching import RecognisedText, match_exception, match_message
from kafkatx.text.logs.requests import fill_answer, fill_request, is_request
from kafkatx.text.logs.shown import shows_error
from kafkatx.text.logs.signs import SEPARATOR, signs_of
from kafkatx.text.logs.spoken import is_about_transactions, is_spoken_failure
from kafkatx.text.logs.stamps import DATED, STAMP
from kafkatx.text.logs.strings import Strings
from kafkatx.text.logs.traces import is_trace_line, read_trace

_OF_PARTITION = regex(r"(?:^Partition |\bpartition=)(?P<name>[^\s,\]]+-\d{1,10})(?=[\s,\]]|$)")
_OF_GROUP = regex(r"Group(?:Id)? (.+)")
VAGUE = frozenset({EventKind.append_refused, EventKind.other, EventKind.failure})
"""Kinds that an exception under the line says more than."""
NO_FAILURES: dict[EventKind | None, frozenset[str]] = {
    EventKind.connection_failed: frozenset({"_TRANSPORT", "_ALL_BROKERS_DOWN", "_RESOLVE", "ErrOutOfBrokers"}),
    EventKind.batches_failed: frozenset({"_PURGE_QUEUE", "_PURGE_INFLIGHT"}),
    None: frozenset({"_PARTITION_EOF", "_NO_OFFSET", "_NOOP", "_ASSIGN_PARTITIONS", "_REVOKE_PARTITIONS"}),
}
"""Errors of clients that tell of a connection, of records that an abort threw away, or of nothing that failed."""
MOST_BELOW = 6
"""Lines of an entry in which a message is looked for that its first line does not have."""
_TIMED = regex(rf"\W{{0,3}}(?:{STAMP})")
_TIMED_WITHIN = regex(DATED)
LATEST_TIME = 60
"""Characters at a line's beginning in which its own time stands: below another line it is one that was quoted."""
TRIED_AGAIN = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode.KAFKA_STORAGE_ERROR,
    }
)  # fmt: skip
"""Errors after which KafkaJS tries the request again (`retriable: true` in its protocol/error.js)."""
REFUSED_FOR_GOOD = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_VERSION, ErrorCode.INVALID_TRANSACTION_TIMEOUT,
    }
)  # fmt: skip
"""Errors that no further try mends, though librdkafka asks again for its producer id."""
_ANSWERED = regex(r"(?:Response \w{1,40}\(key: \d|Failed to send messages: )")
"""How KafkaJS logs, at ERROR, an answer that it may try again; when it gives up the application is told."""
_WITHOUT_REQUESTS = "requests: { inflight: 0, finished: 0 }"
"""What Redpanda prints of a producer of whose batches it knows none."""
_MISLINKED = regex(r"Incompatible KafkaProducer version|^['\"]?(?:[\w.$\[\]]{1,200} )?\[?L?org[./]apache[./]kafka[./]")
"""What a virtual machine says of a class or method of Kafka's that is not there, and Flink of a field."""
_RESUMABLE = regex(r"KafkaRetriableException|retry call to resume")
"""What librdkafka says of a call that can be made again, and then goes on."""
_THROWN = ("Confluent.Kafka.", "confluent_kafka.", "cimpl.", "KafkaJS")
"""Classes of exceptions that an application was thrown: whoever throws has stopped to try again."""
TO_ERROR = (EventKind.to_abortable, EventKind.to_fatal)
OF_CONNECTIONS = (EventKind.connection_failed, EventKind.node_disconnected)
OWN_NODE = (
    EventKind.broker_fenced, EventKind.broker_unfenced, EventKind.broker_starting, EventKind.broker_started,
    EventKind.broker_stopping, EventKind.broker_stopped, EventKind.broker_release, EventKind.unclean_start,
)  # fmt: skip
"""Kinds whose node is the broker that writes, where the line names no other."""


def event_of(entry: Entry, strings: Strings) -> Row | None:
    """Return the row of an entry, without its source; None where it means nothing to us."""
    framed = entry.framed
    if entry.tail and is_end_of_reading(framed.message, entry.tail[0]):
        return None
    row = empty_row()
    is_asked = is_request(framed.message)
    kind = fill_request(row, framed.message, strings) if is_asked else _fill(row, entry, strings)
    kind = fill_answer(row, framed.message, strings) if kind is None else kind
    kind = _fill_unanswered(row, framed, strings) if kind is None else kind
    signs = signs_of(entry)
    if kind is None and is_evidence(signs.split(SEPARATOR)):
        kind = EventKind.other
        fill_field(row, "detail", own_words(framed.message), strings)
    if kind is None:
        return None
    if kind is EventKind.sequence_refused and _WITHOUT_REQUESTS in framed.context.text:
        kind = EventKind.unknown_producer
    _frame(row, kind, entry, strings)
    row[COLUMNS["kind"]] = kind
    row[COLUMNS["signs_code"]] = strings.code(signs)
    return row


def spoken_event_of(entry: Entry, strings: Strings) -> Row | None:
    """Return the row of an entry that means nothing to us but speaks of a failure of Kafka's."""
    framed = entry.framed
    is_ended = bool(entry.tail) and is_end_of_reading(framed.message, entry.tail[0])
    told = f"{framed.context.text} {framed.message}"
    is_others = side_of(framed) is Side.broker and not is_about_transactions(told)
    if is_ended or is_others or not is_spoken_failure(framed, framed.message):
        return None
    row = empty_row()
    fill_field(row, "detail", framed.message, strings)
    _frame(row, EventKind.spoken, entry, strings)
    row[COLUMNS["kind"]] = EventKind.spoken
    return row


def _fill(row: Row, entry: Entry, strings: Strings) -> EventKind | None:
    framed = entry.framed
    found = _text_of(framed) or _text_below(entry)
    trace = _trace(entry, found)
    kind = _fill_texts(row, found, _known(trace) if trace else None, strings)
    is_shown = trace is not None and _is_of_kafka(trace) and not _is_brokers_own(entry) and not _is_talk(entry)
    if trace and is_shown and _says_less(kind, found, trace, framed):
        kind = kind_of(trace, framed)
    if kind is EventKind.concurrent_transactions and framed.level >= Level.error and not _goes_on(framed.message):
        kind = EventKind.failure  # an application's own line: its client had given up
    if kind is None and trace is None and says_initialised(framed.message):
        kind = EventKind.init_returned
        row[COLUMNS["side"]] = Side.client
    if kind is None and trace is None and _has_time(framed) and says_begun(framed.message):
        kind = EventKind.begin_called
        row[COLUMNS["side"]] = Side.client
    if kind in TO_ERROR and found and found.pattern.entry.client == "librdkafka" and row[COLUMNS["error_code"]] < 0:
        fill_field(row, "error", "TXNERR" if row[COLUMNS["detail_code"]] >= 0 and not trace else "", strings)
    if kind is not None and trace:
        _fill_trace(row, trace, framed.message, strings)
    elif kind is not None and found and row[COLUMNS["error_code"]] < 0:
        error = error_of(found.pattern)
        fill_field(row, "error", error, strings)
        if row[COLUMNS["detail_code"]] < 0 and (error or kind is EventKind.failure):
            fill_field(row, "detail", found.text or own_words(framed.message), strings)
    return kind


def _goes_on(message: str) -> bool:
    """Whether a client says that it tries again."""
    return _ANSWERED.match(message) is not None or "retry" in message


def _has_time(framed: Framed) -> bool:
    """Whether a line says when it was written, as lines of a program do."""
    return framed.at >= 0 or framed.of_day >= 0


def _fill_unanswered(row: Row, framed: Framed, strings: Strings) -> EventKind | None:
    """An application's own warning that a transactional call had not returned."""
    call = unanswered_in(framed.message) if framed.level >= Level.warn else None
    if call is None:
        return None
    fill_field(row, "api", call, strings)
    fill_field(row, "detail", framed.message, strings)
    return EventKind.failure


def _says_less(kind: EventKind | None, found: RecognisedText | None, trace: Trace, framed: Framed) -> bool:
    """Whether an exception decides what a line is: no text does, only the exception's own, or a text that ends anew."""
    if kind is EventKind.failure and found is None and _ANSWERED.match(framed.message):
        return True
    if kind is EventKind.failure and found is not None:
        return found.pattern.entry.stands != "line" and _is_spelled(trace.root)
    is_over = trace.chain[0].exception.startswith(_THROWN) or trace.root.error in REFUSED_FOR_GOOD
    return kind is None or (kind is EventKind.request_enqueued and is_over)


def _fill_texts(
    row: Row, found: RecognisedText | None, thrown: RecognisedText | None, strings: Strings
) -> EventKind | None:
    """Write what the text of a line says, and over it that of the exception under it where that says more."""
    kind, side = (found.kind, found.pattern.entry.side) if found else (None, Side.unknown)
    if found:
        fill(row, found, strings)
    if thrown and (kind is None or kind in VAGUE or thrown.kind is EventKind.storage_failed):
        kind = thrown.kind
        fill(row, thrown, strings)
    if kind is not None:
        row[COLUMNS["side"]] = side
    return kind


def _trace(entry: Entry, found: RecognisedText | None) -> Trace | None:
    """The trace under a line, else the exception in its message if that is a client's or no known text."""
    framed = entry.framed
    message = own_words(framed.message)
    if not entry.tail and not framed.trace:
        is_told = found is not None and found.pattern.entry.side is not Side.client
        if is_told or not may_throw(message):
            return None
    trace = read_trace((message, *framed.trace.split("\n"), *entry.tail)) or _beside(framed.trace)
    return _with_field(trace, (message, *entry.tail)) if trace else None


def _with_field(trace: Trace, lines: Sequence[str]) -> Trace:
    """Add the error that a field of a printed exception names, where its class is no error of the protocol."""
    if any(link.error is not ErrorCode.NONE for link in trace.chain):
        return trace
    named = next(filter(None, map(named_by_field, lines)), None)
    return replace(trace, chain=(*trace.chain, named)) if named else trace


def _beside(text: str) -> Trace | None:
    """The exception that a structured line names beside its message, without a class or frames.

    What has a time of its own is a line that the message quotes.
    """
    first, _, rest = text.partition("\n")
    chain = () if rest or _TIMED.match(first) else thrown_in(first)
    return Trace(chain) if chain else None


def _known(trace: Trace) -> RecognisedText | None:
    """The text of the outermost exception whose text is known: its causes may be older, from another call."""
    whole = next((found for link in trace.chain if (found := match_exception(link.message))), None)
    return whole or next((found for link in trace.chain if (found := _piece_of_exception(link.message))), None)


def _text_of(framed: Framed) -> RecognisedText | None:
    """The text that a message is, or holds; without a logger it may be that of an exception, printed alone."""
    found = match_message(framed.message, framed.logger)
    is_alone = framed.layout in (MESSAGE_ONLY, REMNANT, "") or not (_has_time(framed) or framed.logger)
    if is_alone and (found is None or found.kind is EventKind.other):
        found = match_exception(framed.message) or found
    if found is None and (told := behind(framed.message)):
        found = match_message(told, framed.logger)
    return found or _piece(framed) or _told_beside(framed)


def _text_below(entry: Entry) -> RecognisedText | None:
    """The text in the lines under one that says nothing itself, above all frames."""
    for line in entry.tail[:MOST_BELOW]:
        if is_trace_line(line):
            break
        text = line.strip()
        if _TIMED_WITHIN.search(text[:LATEST_TIME]):
            continue
        if found := match_message(text) or match_exception(text) or find_fragment(text):
            return found
    return None


def _told_beside(framed: Framed) -> RecognisedText | None:
    """The text that a structured line tells in a field of its own, beside its message."""
    first = framed.trace.partition("\n")[0].strip()
    if _TIMED_WITHIN.search(first[:LATEST_TIME]):
        return None
    return (match_message(first) or match_exception(first) or find_fragment(first)) if first else None


def _piece(framed: Framed) -> RecognisedText | None:
    """The text in a message that is none as a whole: behind an application's words, or cut."""
    is_quiet = framed.layout not in (MESSAGE_ONLY, REMNANT, "") and framed.level in (
        Level.trace,
        Level.debug,
        Level.info,
    )
    return None if is_quiet else find_fragment(own_words(framed.message))


def _piece_of_exception(message: str) -> RecognisedText | None:
    found = find_fragment(message)
    return found if found is not None and found.pattern.entry.stands != "line" else None


def _fill_trace(row: Row, trace: Trace, message: str, strings: Strings) -> None:
    row[COLUMNS["trace_code"]] = strings.trace_code(trace)
    call = _call(trace, message)
    for name, value in (("error", trace.root.exception), ("detail", trace.root.message), ("api", call)):
        if row[COLUMNS[f"{name}_code"]] < 0:
            fill_field(row, name, value, strings)


def _call(trace: Trace, message: str) -> str:
    """The method that the application called, by the outermost frame of a client, else by what the texts say."""
    framed = next((METHODS[name] for name in reversed(trace.calls) if name in METHODS), None)
    told = (call_in(text, is_kafka=True) for text in (message, *(link.message for link in trace.chain)))
    return framed or next(filter(None, told), "")


def _is_brokers_own(entry: Entry) -> bool:
    """Whether a broker speaks of an exception that troubles nobody: at INFO or below, no trace under it."""
    return not entry.tail and entry.framed.level <= Level.info and side_of(entry.framed) is Side.broker


def kind_of(trace: Trace, framed: Framed) -> EventKind | None:
    """What a line that only shows an exception is: a failure, but for what fails no call, or is tried again."""
    root = trace.root
    if framed.level in (Level.trace, Level.debug) and not trace.calls and _is_spelled(root):
        return None
    if framed.level == Level.warn and any(_RESUMABLE.search(f"{link.name} {link.message}") for link in trace.chain):
        return EventKind.request_enqueued
    if _ANSWERED.match(framed.message) and root.error in TRIED_AGAIN:
        is_busy = root.error is ErrorCode.CONCURRENT_TRANSACTIONS
        return EventKind.concurrent_transactions if is_busy else EventKind.produce_retry
    return next((kind for kind, names in NO_FAILURES.items() if root.name in names), EventKind.failure)


def _is_spelled(thrown: Thrown) -> bool:
    """Whether an error is known by a constant or by its library's words, not by a class with its package."""
    return "." not in thrown.exception or thrown.exception.startswith(
        ("sarama.", "kafkajs.", "kerr.", "franz-go.", "platformatic-kafka.")
    )


def _is_talk(entry: Entry) -> bool:
    """Whether a line without anything before its message only names an exception."""
    if entry.framed.layout != MESSAGE_ONLY or entry.tail:
        return False
    return not is_told_throw(entry.framed.message) and not shows_error(entry.framed.message)


def _is_of_kafka(trace: Trace) -> bool:
    return bool(trace.calls) or any(
        "kafka" in link.exception.lower() or link.name in known_classes() or _MISLINKED.search(link.message)
        for link in trace.chain
    )


def _frame(row: Row, kind: EventKind, entry: Entry, strings: Strings) -> None:
    """Write what every line has: place, time, level, who speaks."""
    framed, context = entry.framed, entry.framed.context
    if not (context.client_id or context.transactional_id or context.broker_id >= 0):
        context = within(framed.message) or context
    row[COLUMNS["position"]], row[COLUMNS["line"]] = entry.position, entry.line
    row[COLUMNS["at"]] = framed.at
    row[COLUMNS["of_day"]] = framed.of_day if framed.at < 0 else -1
    row[COLUMNS["level"]] = framed.level
    row[COLUMNS["thread_code"]] = strings.code(framed.thread)
    if framed.logger or context.text == LIBRDKAFKA:
        row[COLUMNS["logger_code"]] = strings.code(framed.logger or LIBRDKAFKA)
    for name, value in names_of(context):
        column = "topic_code" if name == "topic_partition" else f"{name}_code"
        if row[COLUMNS[column]] < 0:
            fill_field(row, name, value, strings)
    if row[COLUMNS["side"]] == Side.unknown or (kind is EventKind.failure and side_of(framed) is Side.broker):
        row[COLUMNS["side"]] = side_of(framed)  # an exception's words are a client's, unless a broker printed them
    if sends_markers(context) and kind in OF_CONNECTIONS and row[COLUMNS["api_code"]] < 0:
        fill_field(row, "api", MARKERS, strings)


def names_of(context: Context) -> Iterator[tuple[str, str]]:
    """Names that a context gives to events whose text names none: columns and values."""
    yield from (("client_id", context.client_id), ("transactional_id", context.transactional_id))
    group = _OF_GROUP.fullmatch(context.text)
    yield "group", context.group or (group[1] if group else "")
    if named := _OF_PARTITION.search(context.text):
        yield "topic_partition", named["name"]


def side_of(framed: Framed) -> Side:
    """Who wrote a line, by its logger and its context."""
    return side_by(framed.logger, framed.context)


def side_by(logger: str, context: Context) -> Side:
    """Who writes under a logger's name with a context."""
    if logger.startswith(_BROKER_LOGGERS) or _is_brokers(context):
        return Side.broker
    is_client = context.client_id or context.transactional_id or logger.startswith(_CLIENT_LOGGERS)
    return Side.client if is_client else Side.unknown


_CLIENT_LOGGERS = (
    "org.apache.kafka.clients.producer.", "org.apache.kafka.clients.consumer.", "org.apache.kafka.streams.",
    "org.apache.kafka.connect.", "o.a.k.clients.producer.", "o.a.k.c.p.", "o.a.k.c.c.", "org.apache.flink.",
    "org.springframework.kafka.", "aiokafka", "kafka.producer.", "kafka.consumer.", "rdkafka", "kgo",
)  # fmt: skip
_BROKER_LOGGERS = (
    "kafka.server.", "kafka.coordinator.", "kafka.cluster.", "kafka.log.", "kafka.network.", "kafka.controller.",
    "kafka.utils.", "kafka.zk.", "kafka.raft.", "kafka.request.logger", "state.change.logger",
    "org.apache.kafka.controller.", "org.apache.kafka.coordinator.", "org.apache.kafka.raft.",
    "org.apache.kafka.server.", "org.apache.kafka.storage.", "org.apache.kafka.image.",
)  # fmt: skip


def _is_brokers(context: Context) -> bool:
    return context.broker_id >= 0 and not context.client_id
