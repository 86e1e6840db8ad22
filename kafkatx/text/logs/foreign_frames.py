"""Frames of stack traces that are not Java's: of Node, .NET's client and PHP; the client's call that they name."""

from __future__ import annotations

from kafkatx.terms.regex import regex
from kafkatx.text.logs.calls import CONSUMERS, METHODS

TELLING = 8
"""Letters from which on a name is a client's method whatever class has it; `flush` and `send` are everybody's."""
_NODE = regex(
    r"\s{1,40}at (?:async |new )?(?:[\w$.<>\[\] ]{1,120} )?\(?(?:file://|node:|[A-Za-z]:\\|/|\.{0,2}[\w@-])[^()\s]{1,300}"
    r":\d{1,7}(?: ?: ?\d{1,6})?\)?,?"
)
"""A frame of Node: `at Object.beginTransaction (/app/node_modules/kafkajs/src/producer/index.js:138:29)`."""
_NODE_CALL = regex(r"\bat (?:async )?(?:[\w$<>]{1,60}\.)?([\w$]{1,60}) (?:\[as [\w$]{1,60}\] )?\(")
_REQUEST = regex(
    r"/protocol/requests/(initProducerId|addPartitionsToTxn|produce|addOffsetsToTxn|txnOffsetCommit|offsetCommit)/"
)
"""Where KafkaJS reads the answer to a request of a transaction, or to a consumer's commit."""
_NETWORK = "/kafkajs/src/network/"
"""Where KafkaJS sends requests of whatever call."""
_OF_REQUEST = {
    "initProducerId": "initTransactions",
    "addPartitionsToTxn": "send",
    "produce": "send",
    "addOffsetsToTxn": "sendOffsetsToTransaction",
    "txnOffsetCommit": "sendOffsetsToTransaction",
    "offsetCommit": CONSUMERS,
}
_NET = regex(r"\s{0,40}at Confluent\.Kafka\.[^\s(]{1,200}\.(\w{1,60})\(")
"""A frame of Confluent.Kafka: `at Confluent.Kafka.Impl.SafeKafkaHandle.CommitTransaction(Int32 timeout)`."""
_NET_COMMIT = regex(r"\bConsumer`\d\.Commit\(")
_PHP = regex(
    r"\s{0,8}#\d{1,3} (?:[^\s:]{1,300}\(\d{1,7}\)|\[internal function\]): (?:[\w\\]{1,200}(?:->|::))?(\w{1,60})\("
)
"""A frame of PHP: `#0 /app/src/TxWriter.php(57): RdKafka\\Producer->commitTransaction(15000)`."""


def foreign_call(line: str) -> str | None:
    """The client's method that a frame of Node, .NET or PHP is of; empty for other code's, None for other lines."""
    begin = line[:64].lstrip()
    if begin.startswith("#") and (found := _PHP.match(line)):
        return METHODS.get(found[1], "") if len(found[1]) >= TELLING else ""
    if not begin.startswith("at ") or ".java:" in line:
        return None
    if begin.startswith("at Confluent") and (found := _NET.match(line)):
        return CONSUMERS if _NET_COMMIT.search(line) else METHODS.get(found[1], "")
    if _NODE.match(line) is None:
        return None
    if _NETWORK in line:
        return ""
    if asked := _REQUEST.search(line):
        return _OF_REQUEST[asked[1]]
    found = _NODE_CALL.search(line)
    return METHODS.get(found[1], "") if found else ""
