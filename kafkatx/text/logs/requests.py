"""Lines of the brokers' request logger (`kafka.request.logger` at DEBUG or TRACE): who asked for what, and the answer.

Forms    2.8+: `Completed request:{json}`; before: `Completed request:RequestHeader(apiKey=INIT_PRODUCER_ID,
         apiVersion=1, clientId=C, correlationId=3) -- {transactional_id=T,...},response:{...} from connection
         A-B-0;totalTime:...`;
         0.11 to 1.x write the header as `{api_key=22,api_version=0,correlation_id=3,client_id=C}`.
Kept     requests of transactions; of Produce only what was refused.
Source   kafka.network.RequestChannel (updateRequestMetrics), RequestConvertToJson (KIP-673).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

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
    return [("error", _error_names().get(worst, str(worst)))] if worst else []


@cache
def _error_names() -> dict[int, str]:
    return {error.code: error.name for error in error_codes()}


def _address(connection: str) -> Fields:
    """The client's address in `server:port-client:port-index`."""
    found = _ADDRESS.search(connection)
    return [("detail", found[1])] if found else []
