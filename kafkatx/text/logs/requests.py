"""Requests and answers as brokers log them (`kafka.request.logger` at DEBUG), and answers as the Java client does.

Forms    2.8+: `Completed request:{json}`; before: `Completed request:RequestHeader(apiKey=INIT_PRODUCER_ID,
         apiVersion=1, clientId=C, correlationId=3) -- {transactional_id=T,...},response:{...} from connection
         A-B-0;totalTime:...`;
         0.11 to 1.x write the header as `{api_key=22,api_version=0,correlation_id=3,client_id=C}`.
Clients  `Received INIT_PRODUCER_ID response from node 1 for request with header RequestHeader(...):
         InitProducerIdResponseData(throttleTimeMs=0, errorCode=16, ...)` at DEBUG, 2.7 on.
Kept     requests of transactions; of Produce only what was refused; of clients the errors alone.
Source   kafka.network.RequestChannel (updateRequestMetrics), RequestConvertToJson (KIP-673); NetworkClient
         (handleCompletedReceives).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from kafkatx.terms.catalogue.entries import ProtocolError
from kafkatx.terms.catalogue.loading import error_codes
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.regex import regex
from kafkatx.text.logs.filling import COLUMNS, Row, fill_field
from kafkatx.text.logs.strings import Strings

APIS = {
    0: "Produce", 22: "InitProducerId", 24: "AddPartitionsToTxn", 25: "AddOffsetsToTxn", 26: "EndTxn",
    27: "WriteTxnMarkers", 28: "TxnOffsetCommit",
}  # fmt: skip
"""Requests that tell of transactions, by the number of their API."""
PREFIX = "Completed request:"
_BY_NAME = {
    "PRODUCE": 0, "INIT_PRODUCER_ID": 22, "ADD_PARTITIONS_TO_TXN": 24, "ADD_OFFSETS_TO_TXN": 25, "END_TXN": 26,
    "WRITE_TXN_MARKERS": 27, "TXN_OFFSET_COMMIT": 28,
}  # fmt: skip
_OLD = regex(
    r"(?:RequestHeader\((?P<header>[^()]{0,2000})\)|\{(?P<older>api_key=[^{}]{0,2000})\}) -- "
    r"(?P<rest>.*)",
    re.DOTALL,
)
_PAIR = regex(r"(?P<name>[A-Za-z_]{1,60})=(?P<value>'[^']*'|[^,(){}\[\]]*)")
_CONNECTION = regex(r" from connection (\S{1,200}?);")
_ADDRESS = regex(r"-(\[?[0-9a-fA-F.:%\w]+\]?):\d{1,5}-\d+(?:-\d+)?$")
_ERROR = regex(r"[\"_]?error_?[cC]ode\"?[=:] ?(-?\d{1,5})")
_PRODUCE = regex(r'"PRODUCE"|apiKey=PRODUCE\b|\bapi_key=0,')
_REFUSED = regex(r"[eE]rror_?[cC]ode\"?[=:] ?-?[1-9]")
"""An answer that holds an error. The cheap test before a Produce request is read."""


_ANSWER = regex(
    r"Received (?P<api>[A-Z_]{7,30}) response from node (?P<node>-?\d{1,10}) for request with header "
    r"RequestHeader\([^()]{0,2000}\): (?P<answer>.{0,8000})",
    re.DOTALL,
)
_ANSWERED = regex(r"[eE]rrorCode=(-?[1-9]\d{0,4})\b")
_CALLS = {
    "InitProducerId": "initTransactions", "AddPartitionsToTxn": "send", "AddOffsetsToTxn": "sendOffsetsToTransaction",
    "TxnOffsetCommit": "sendOffsetsToTransaction",
}  # fmt: skip
"""The call that waits for a request, where it is one."""
_AGAIN = "retr"
"""How the catalogue's reactions to an error begin after which a client asks again."""


def fill_answer(row: Row, message: str, strings: Strings) -> EventKind | None:
    """Write the error that a Java client was answered into a row; None if it is no such line, or all is well.

    A client asks again for a producer id until it is given one, and its call waits for that long; other requests it
    repeats all the time without anybody waiting, unless the transaction before has not ended.
    """
    found = _ANSWER.match(message) if message.startswith("Received ") else None
    api = _api_called(found["api"]) if found is not None else None
    code = _ANSWERED.search(found["answer"]) if found is not None and api not in (None, "Produce") else None
    if found is None or api is None or code is None:
        return None
    error = _errors().get(int(code[1]))
    if error is None:
        return None
    is_busy, is_asked_again = error.name == "CONCURRENT_TRANSACTIONS", error.reaction.startswith(_AGAIN)
    if is_asked_again and not is_busy and api != "InitProducerId":
        return None
    row[COLUMNS["side"]] = Side.client
    fill_field(row, "error", error.name, strings)
    if is_busy or is_asked_again:
        fill_field(row, "api", api, strings)
        return EventKind.concurrent_transactions if is_busy else EventKind.request_enqueued
    fill_field(row, "api", _CALLS.get(api, ""), strings)
    fill_field(row, "detail", f"{api}: {error.name}", strings)
    return EventKind.failure


def is_request(message: str) -> bool:
    """Whether a message is of the request logger."""
    return message.startswith(PREFIX)


def fill_request(row: Row, message: str, strings: Strings) -> EventKind | None:
    """Write what a request tells into a row; None if it tells nothing of transactions."""
    body = message[len(PREFIX) :].lstrip()
    if _PRODUCE.search(body[:800]) and not _REFUSED.search(body):
        return None
    fields = _of_json(body) if body.startswith('{"') else _of_text(body)
    if not fields:
        return None
    row[COLUMNS["side"]] = Side.broker
    for name, value in fields:
        fill_field(row, name, value, strings)
    return EventKind.request_seen


Fields = list[tuple[str, str]]


def _of_json(body: str) -> Fields | None:
    try:
        seen = json.loads(body)
    except (ValueError, RecursionError):
        return None
    header, asked, answer = (_object(seen, name) for name in ("requestHeader", "request", "response"))
    api = APIS.get(header.get("requestApiKey", -1)) or APIS.get(_BY_NAME.get(str(header.get("requestApiKeyName")), -1))
    if api is None:
        return None
    fields = [("api", api), ("client_id", str(header.get("clientId") or ""))]
    fields.append(("correlation_id", str(header.get("correlationId", ""))))
    fields += _names(api, _firsts(_flat(asked)), _firsts(_flat(answer)))
    codes = [code for name, code in _flat(answer) if name.lower().endswith("errorcode") and isinstance(code, int)]
    fields += _error(codes)
    return [*fields, *_address(str(seen.get("connection", "")))]


def _of_text(body: str) -> Fields | None:
    found = _OLD.match(body)
    if found is None:
        return None
    header = _pairs(found["header"] or found["older"])
    api = _api_called(header.get("apiKey", ""))
    if api is None:
        return None
    asked, _, answered = found["rest"].partition("response:")
    fields = [("api", api), ("client_id", header.get("clientId", ""))]
    fields.append(("correlation_id", header.get("correlationId", "")))
    fields += _names(api, _pairs(asked), _pairs(answered))
    fields += _error([int(code) for code in _ERROR.findall(answered)])
    connection = _CONNECTION.search(found["rest"])
    return [*fields, *_address(connection[1] if connection else "")]


def _api_called(key: str) -> str | None:
    """A request of transactions by the name or number of its API."""
    return APIS.get(_BY_NAME.get(key, int(key) if key.isdecimal() and len(key) < 5 else -1))


def _pairs(text: str) -> dict[str, Any]:
    """Names and values of Kafka's own text of a request; the first of a name counts."""
    return _firsts((_camel(pair["name"]), pair["value"].strip("'")) for pair in _PAIR.finditer(text))


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _firsts(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The first value of each name."""
    first: dict[str, Any] = {}
    for name, value in pairs:
        first.setdefault(name, value)
    return first


def _names(api: str, asked: dict[str, Any], answer: dict[str, Any]) -> Fields:
    """Ids of producer and group; of InitProducerId what was given counts before what was asked with."""
    places = (answer, asked) if api == "InitProducerId" else (asked, answer)
    fields = [("transactional_id", asked.get("transactionalId") or asked.get("v3AndBelowTransactionalId"))]
    fields.append(("group", asked.get("groupId")))
    for column, *known in (
        ("producer_id", "producerId", "v3AndBelowProducerId"),
        ("producer_epoch", "producerEpoch", "v3AndBelowProducerEpoch"),
    ):
        values = [str(place[name]) for place in places for name in known if name in place]
        fields.append((column, next((value for value in values if not value.startswith("-")), "")))
    if "committed" in asked or "transactionResult" in asked:
        committed = str(asked.get("committed", asked.get("transactionResult"))).lower()
        fields.append(("number", "1" if committed == "true" else "0"))
    return [(name, str(value)) for name, value in fields if value not in (None, "null", "")]


def _flat(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Names and plain values of nested JSON, outer ones first."""
    if isinstance(value, dict) and depth < 12:
        yield from ((name, one) for name, one in value.items() if not isinstance(one, dict | list))
        for one in value.values():
            yield from _flat(one, depth + 1)
    elif isinstance(value, list) and depth < 12:
        for one in value:
            yield from _flat(one, depth + 1)


def _object(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _error(codes: list[int]) -> Fields:
    worst = next((code for code in codes if code), 0)
    known = _errors().get(worst)
    return [("error", known.name if known is not None else str(worst))] if worst else []


@cache
def _errors() -> dict[int, ProtocolError]:
    """Errors of the protocol by their code, by the name that they have now."""
    return {error.code: error for error in error_codes()}


def _address(connection: str) -> Fields:
    """The client's address in `server:port-client:port-index`."""
    found = _ADDRESS.search(connection)
    return [("detail", found[1])] if found else []
