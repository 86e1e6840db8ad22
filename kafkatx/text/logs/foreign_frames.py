"""Frames of stack traces that are not Java's: of Node and of .NET's client; the client's call that they name."""

from __future__ import annotations

import re

from kafkatx.text.logs.calls import METHODS

_NODE = re.compile(
    r"\s{1,40}at (?:async |new )?(?:[\w$.<>\[\] ]{1,120} )?\(?(?:file://|node:|[A-Za-z]:\\|/|\.{0,2}[\w@-])[^()\s]{1,300}"
    r":\d{1,7}(?: ?: ?\d{1,6})?\)?,?"
)
"""A frame of Node: `at Object.beginTransaction (/app/node_modules/kafkajs/src/producer/index.js:138:29)`."""
_NODE_CALL = re.compile(r"\bat (?:async )?(?:[\w$<>]{1,60}\.)?([\w$]{1,60}) (?:\[as [\w$]{1,60}\] )?\(")
_NET = re.compile(r"\s{0,40}at Confluent\.Kafka\.[^\s(]{1,200}\.(\w{1,60})\(")
"""A frame of Confluent.Kafka: `at Confluent.Kafka.Impl.SafeKafkaHandle.CommitTransaction(Int32 timeout)`."""


def foreign_call(line: str) -> str | None:
    """The client's method that a frame of Node or .NET is of; empty for other code's, None for other lines."""
    if found := _NET.match(line):
        return METHODS.get(found[1], "")
    if _NODE.match(line) is None:
        return None
    found = _NODE_CALL.search(line)
    return METHODS.get(found[1], "") if found else ""
