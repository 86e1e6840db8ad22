"""Which method of the client a text speaks of: its own name, or a verb with `transaction`.

Careful  an application's words are its own; only the API's name (`commitTransaction failed`), a verb with the word
         transaction (`Error while committing transaction`), what a client's own text names (`awaiting EndTxn(true)`,
         ``operation `abortTransaction` ``), or `commit failed` beside an error of a Kafka library count.
"""

from __future__ import annotations

import re

from kafkatx.terms.regex import regex

LONGEST_TEXT = 4_096
"""Characters of a text that are looked at."""
TRANSACTIONAL = (
    "initTransactions", "beginTransaction", "commitTransaction", "abortTransaction", "sendOffsetsToTransaction",
)  # fmt: skip
"""Transactional methods of KafkaProducer (KIP-98)."""

FENCING = "fenceProducers"
"""Admin.fenceProducers (KIP-618): Connect's leader and forceTerminateTransaction ask the coordinator so."""
CONSUMERS = "commitSync"
"""A consumer's commit of offsets outside transactions, whatever a client calls it."""
METHODS = {name: name for name in (*TRANSACTIONAL, CONSUMERS, "commitAsync", "flush", "send", "poll")} | {
    "init_transactions": "initTransactions",
    "begin_transaction": "beginTransaction",
    "commit_transaction": "commitTransaction",
    "abort_transaction": "abortTransaction",
    "send_offsets_to_transaction": "sendOffsetsToTransaction",
    "rd_kafka_init_transactions": "initTransactions",
    "rd_kafka_begin_transaction": "beginTransaction",
    "rd_kafka_commit_transaction": "commitTransaction",
    "rd_kafka_abort_transaction": "abortTransaction",
    "rd_kafka_send_offsets_to_transaction": "sendOffsetsToTransaction",
    "InitTransactions": "initTransactions",
    "BeginTransaction": "beginTransaction",
    "CommitTransaction": "commitTransaction",
    "AbortTransaction": "abortTransaction",
    "SendOffsetsToTransaction": "sendOffsetsToTransaction",
    "EndTransaction": "commitTransaction",
    "BeginTxn": "beginTransaction",
    "CommitTxn": "commitTransaction",
    "AbortTxn": "abortTransaction",
    "AddOffsetsToTxn": "sendOffsetsToTransaction",
    "AddMessageToTxn": "sendOffsetsToTransaction",
    "initProducerId": "initTransactions",
    "transaction.commit": "commitTransaction",
    "transaction.abort": "abortTransaction",
    "transaction.sendOffsets": "sendOffsetsToTransaction",
    "sendOffsets": "sendOffsetsToTransaction",
    "StoreOffset": CONSUMERS,
    "StoreOffsets": CONSUMERS,
    "store_offsets": CONSUMERS,
}
"""Methods of clients to the names of Java's: of Python and Rust, .NET and Go, sarama, KafkaJS; `EndTransaction` of
franz-go commits or aborts, its lines say which."""

_NAMED = regex(
    r"\b(" + "|".join(sorted((re.escape(name) for name in METHODS if len(name) >= 8), key=len, reverse=True)) + r")\b"
)
_OPERATION = regex(r"operation `(\w{1,40})`")
_ADMIN = regex(r"\bCall: (fenceProducer|abortTransaction|\w{1,40}Transactions?)\(api=[A-Z_]{1,40}\)")
"""How Java's client for administration names a call of its own about transactions (AdminApiDriver, 3.0+)."""
_OF_REQUEST = {
    "InitProducerId": "initTransactions",
    "AddPartitionsToTxn": "send",
    "Produce": "send",
    "AddOffsetsToTxn": "sendOffsetsToTransaction",
    "TxnOffsetCommit": "sendOffsetsToTransaction",
}
OF_GROUP = "TxnOffsetCommit"
"""The request of a transaction that the coordinator of a consumer group answers, by its own name."""
_REQUEST = regex(rf"\b(?:Response|Request) ({'|'.join(_OF_REQUEST)})\(key: ")
"""A request as KafkaJS logs it; which call EndTxn was sent for its line does not say."""
_AWAITED = regex(r"awaiting (InitProducerId|EndTxn\((?:true|false)\)|AddOffsetsToTxn|TxnOffsetCommit)")
_ANSWER = regex(rf"(?:(?:Unexpected|Unhandled) error in|executing API) ({'|'.join(_OF_REQUEST)})(?:Response|\(v\d)")
"""How Java's client names the request whose answer it does not know, and @platformatic/kafka each that failed."""
_VERB = regex(
    r"\b(commit|abort|roll(?:ing|ed)? ?back|begin|start|initiali[sz])(?:t?ing|ning|e|ed|ted|s)? "
    r"(?:(?:the|a|kafka|new) ){0,3}(?:transactions?|txn|tx)\b|\b(initiali[sz])e producer ?id\b",
    re.IGNORECASE,
)
_UNANSWERED = regex(
    rf"\b(?P<first>{'|'.join(sorted((name for name in METHODS if len(name) >= 14), key=len, reverse=True))})(?:\(\))?"
    r" (?:(?:did not|didn't|never|has not|hasn't|does not|doesn't) (?:return|come back|finish|complete|end)|hung\b"
    r"|hangs\b|timed out|is stuck|was stuck|blocked for)"
)
"""What an application says of a call that it gave up waiting for."""
_OF_GROUP = regex(
    r"\b(?:[Oo]ffset )?[Cc]ommit cannot be completed since|[\"']Commit failed: (?:Broker|Local): "
    r"|\b(?:[Oo]ffsets?|[Cc]heckpoint|[Cc]onsumer|[Aa]?[Ss]ync) ?[Cc]ommit failed\b"
    r"|\berror occurred committing offsets\b|\bResponse OffsetCommit\(key: "
)
"""How clients say that offsets which a consumer commits outside transactions were refused."""
_READING = regex(r"\b[Mm]essage consumption error\b|\bKafkaError \(Message consumption error")
"""How Rust's binding calls what a consumer was given instead of a message."""
_SHORT = regex(r"\b(commit|abort|begin|init|flush)(?: failed\b|: )")
_ALONE = regex(r"(commit|abort|begin|init|flush)(?:\(\))?(?=;|$)")
"""A whole message: what was tried, with its error, and others, in fields of their own."""
_OF_VERB = {
    "commit": "commitTransaction",
    "abort": "abortTransaction",
    "begin": "beginTransaction",
    "start": "beginTransaction",
    "init": "initTransactions",
    "initialis": "initTransactions",
    "initializ": "initTransactions",
    "flush": "flush",
}
_OFFSETS = regex(r"\b(?:send|commit|add)(?:t?ing)? (?:consumer )?offsets to (?:the )?transaction\b", re.IGNORECASE)
_SENDING = regex(
    r"\b(?:send|publish|produc)(?:ing)? (?:record|message|event)s? to \S|(?:failed|unable) to (?:send|produce) ",
    re.IGNORECASE,
)


_INITIALISED = regex(
    r"(?:[\w.]{1,60}\.)?(?:rd_kafka_)?(?:initTransactions|init_transactions|InitTransactions)(?:\(\))?"
    r"(?: \([^()]{1,120}\))?:? (?i:ok|done|succeeded|success(?:ful(?:ly)?)?|completed?|finished|returned)\b"
    r"(?![^.]{0,40}\b(?:not|error|fail))"
)
INITIALISED = (b"initTransactions", b"init_transactions", b"InitTransactions")
"""Literals of lines that say so."""


def says_initialised(text: str) -> bool:
    """Whether a line says that initTransactions returned: the method's name, and that it is done."""
    return _INITIALISED.match(text) is not None


_WORK = r"(?:transactions?|txn|tx)"
_BEGUN = regex(
    r"(?:[\w.-]{1,60}:? ){0,1}(?:"
    r"(?:[\w.]{1,60}\.)?(?:rd_kafka_)?(?:beginTransaction|begin_transaction|BeginTransaction|BeginTxn)\b(?:\(\))?"
    rf"|(?i:begin(?:ning)?|began|start(?:ing|ed)?|open(?:ing|ed)?) (?i:(?:the|a|new|kafka) ){{0,3}}(?i:{_WORK})\b"
    rf"|(?i:(?:new |kafka )?{_WORK} (?:begun|began|begins?|started|opened))\b"
    r"|(?i:begin)(?=$|[,;:(]))"
    r"(?!.*\b(?i:fail\w*|error|exception|refused|not|cannot|can't|invalid|timeout|timed|before|after|when|if|then)\b)"
)
BEGUN = (b"beginTransaction", b"begin_transaction", b"BeginTransaction")
"""Literals of lines that say so in the words of the client's interface."""


_MAY_BEGIN = regex(rf"\b(?i:begin|began|begun|start|open|{_WORK})")


def speaks_of_call(line: str) -> bool:
    """Whether a line of a short text may be an application's own about a call: that it began, or did not return."""
    found = _MAY_BEGIN.search(line)
    return unanswered_in(line) is not None or (found is not None and says_begun(line[found.start() :]))


def says_begun(text: str) -> bool:
    """Whether a line says that a transaction began: an application's own, and nothing but that it did."""
    return _BEGUN.match(text[:LONGEST_TEXT]) is not None


def unanswered_in(text: str) -> str | None:
    """Return the transactional method that an application gave up waiting for, by its own words."""
    found = _UNANSWERED.search(text[:LONGEST_TEXT])
    return METHODS[found["first"]] if found else None


def call_in(text: str, is_kafka: bool = False) -> str | None:
    """Return the client's method that a text speaks of; `is_kafka`: an error of a Kafka library stands beside it."""
    text = text[:LONGEST_TEXT]
    if found := _ADMIN.search(text):
        return FENCING if found[1] in FENCING else None
    if found := _OPERATION.search(text) or _NAMED.search(text):
        return METHODS.get(found[1])
    if found := _AWAITED.search(text):
        return found[1]
    if found := _REQUEST.search(text) or _ANSWER.search(text):
        return found[1] if found[1] == OF_GROUP else _OF_REQUEST[found[1]]
    if _OF_GROUP.search(text) and "ransaction" not in text:
        return CONSUMERS
    if _READING.search(text):
        return "poll"
    if _OFFSETS.search(text):
        return "sendOffsetsToTransaction"
    if found := _VERB.search(text):
        return _OF_VERB.get((found[1] or found[2]).lower(), "abortTransaction")
    if is_kafka and (found := _ALONE.match(text.strip()) or _SHORT.search(text)):
        return _OF_VERB[found[1]]
    return "send" if is_kafka and _SENDING.search(text) else None
