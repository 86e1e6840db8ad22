"""Who speaks: the brackets before a message (`[Producer clientId=C, transactionalId=T] `), whole or damaged.

Clients     `[Producer clientId=C, transactionalId=T]`, `[Consumer clientId=C, groupId=G]`, `[AdminClient clientId=C]`,
            `[Consumer instanceId=I, ...]` (LogContext, since 1.0), `[TransactionalId T]` (0.11), `[name#producer-1]`
            and `[thrd:main]` (librdkafka, whatever logger put words before them), `<KafkaProducer client_id=C
            transactional_id=T>:` (kafka-python).
Brokers     `[tx_id=T]` (Redpanda; `[tx_id={T}]` up to 24.1), `[TransactionCoordinator id=1]`,
            `[Transaction State Manager 1]:` (0.11), ...
Damage      a bracket that lost its front (`[cducer clientId=C, transactionalId=T]`, `t=C, transactionalId=T]`) gives
            what is left; one that lost its end gives nothing (its last value may be cut).
Trap        Flink gives a KafkaProducer a new transactional id by reflection; the bracket keeps its first one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.stamps import DATED

LONGEST_BRACKET = 1_000
"""Characters of a bracket that are looked at; ids have at most 249 by Kafka's own checks on names."""
MOST_BRACKETS = 6
LONGEST_FRONT = 260
"""Characters in which librdkafka's bracket of a thread must begin."""


@dataclass(frozen=True, slots=True)
class Context:
    """What the brackets before a message say; empty strings where they say nothing.

    `role` is their first word (`Producer`, `TransactionCoordinator`, ...), `broker_id` the number that a broker's
    component carries, `is_damaged` whether the bracket lost its front; `text` what stands in the last bracket.
    """

    role: str = ""
    client_id: str = ""
    transactional_id: str = ""
    group: str = ""
    instance_id: str = ""
    broker_id: int = -1
    is_damaged: bool = False
    text: str = ""


NOTHING = Context()
LIBRDKAFKA = "librdkafka"
"""The text of the context of a line of librdkafka's that does not name its client."""

MARKERS = "WriteTxnMarkers"
"""The only request of the network client that a transaction coordinator has (TransactionMarkerChannelManager)."""
CLIENTS = "Producer|Consumer|AdminClient"
"""What a Java client calls itself in the bracket before its messages."""
_PAIRS = regex(r"(?:^|[\[, ])(clientId|transactionalId|groupId|instanceId|client_id|transactional_id|tx_id)=")
_FIELDS = {
    "clientId": "client_id",
    "client_id": "client_id",
    "transactionalId": "transactional_id",
    "transactional_id": "transactional_id",
    "tx_id": "transactional_id",
    "groupId": "group",
    "instanceId": "instance_id",
}
_BROKER = regex(r"(?:\b(?:id|broker|brokerId|nodeId|node|replicaId|localBrokerId)=|[Bb]roker )(\d{1,9})(?![\d.])")
_OLD_BROKER = regex(r"^[A-Z][A-Za-z ]+ (\d{1,9})$")
_LIBRDKAFKA = regex(r"^[^\[\]| ]{1,250}#(?:producer|consumer)-\d{1,6}$")
_OLD_CLIENT = regex(r"^TransactionalId (.+)$")
_TAIL = regex(r"^[^\[\]]{0,400}Id=[^\[\]]{0,400}\]:? ")
_CLIENT = rf"\[((?:{CLIENTS}) (?:clientId|groupId|instanceId)=[^\[\]]{{1,600}})\]"
_BEHIND = regex(rf" {_CLIENT}$")
_DATE = regex(DATED)
_INSIDE = regex(_CLIENT)
_ANGLES = regex(r"^<Kafka\w{1,40} (client_id=[^<>]{0,600})>: ?")
_NETWORK_THREAD = regex(r"^kafka-(producer-network|admin-client|coordinator-heartbeat)-thread \| (.+)$")


def split_context(message: str) -> tuple[Context, str]:
    """Return what stands before a message and the message without it."""
    if "[thrd:" in message[:LONGEST_FRONT] and (found := _THREAD_OF_LIBRDKAFKA.match(message)):
        return _of_librdkafka(found["before"]), found["message"]
    context, rest = NOTHING, message
    for _ in range(MOST_BRACKETS):
        text, after = _bracket(rest)
        if text is None:
            break
        context, rest = _joined(context, read_context(text)), after
    if context is NOTHING and (found := _BEHIND.search(message)):
        return _joined(NOTHING, read_context(found[1])), message[: found.start()]
    if context is NOTHING:
        return _without_front(message)
    return context, rest


_THREAD_OF_LIBRDKAFKA = regex(
    r"(?P<before>[^\n]{0,240}?)\[thrd:[^\]\n]{1,200}\]: (?P<message>.*?)"
    r"(?:['\"](?:, ?[\"']?(?:fac|severity|timestamp|name)[\"']?: ?.*|\s*\}))?$",
    re.DOTALL,
)
_NAME_IN_FRONT = regex(r"[^\[\]|\s'\"(]{1,250}#(?:producer|consumer)-\d{1,6}")
_SENDER = regex(r"^<Sender (client_id=[^<>]{0,600})>: ?")


def _of_librdkafka(before: str) -> Context:
    """The client that what stands before `[thrd:main]: ` names, whatever logger librdkafka's lines went through."""
    name = _NAME_IN_FRONT.search(before)
    return read_context(name[0]) if name else Context(text=LIBRDKAFKA)


def sends_markers(context: Context) -> bool:
    """Whether a network client is the one that a transaction coordinator sends markers with."""
    return context.role == "TransactionCoordinator"


def within(message: str) -> Context | None:
    """Return what a client's bracket in the middle of a message says, None if there is none."""
    found = _inside(message)
    return read_context(found[1]) if found else None


def behind(message: str) -> str | None:
    """Return what stands behind a client's bracket in the middle of a message, None if there is none."""
    found = _inside(message)
    return message[found.end() :].lstrip(" :") if found else None


def _inside(message: str) -> re.Match[str] | None:
    """The first bracket of a client in a message; none behind a date, which begins a line that is quoted."""
    found = _INSIDE.search(message) if "Id=" in message else None
    return None if found is None or _DATE.search(message, 0, found.start()) else found


def with_thread(context: Context, thread: str) -> Context:
    """Fill in the client id (or group) that the client's own thread names, where no bracket does."""
    if not thread.startswith("kafka-") or context.client_id or (found := _NETWORK_THREAD.match(thread)) is None:
        return context
    if found[1] == "coordinator-heartbeat":
        return context if context.group else _joined(context, Context(group=found[2]))
    return _joined(context, Context(client_id=found[2]))


@lru_cache(maxsize=1024)
def read_context(text: str) -> Context:
    """Read what stands between brackets."""
    if pairs := _pairs(text):
        role = text.partition(" ")[0] if "=" not in text.partition(" ")[0] else ""
        known = role if role in ("Producer", "Consumer", "AdminClient", "ShareConsumer") or role[:5] == "Kafka" else ""
        return replace(pairs, role=known, is_damaged=not known, text=text)
    if found := _OLD_CLIENT.match(text):
        return Context(role="Producer", transactional_id=found[1], text=text)
    if _LIBRDKAFKA.match(text):
        return Context(role="Consumer" if "#consumer-" in text else "Producer", client_id=text, text=text)
    if text.startswith(("thrd:", "{")):
        return Context(text=text)
    role = text.partition(" ")[0]
    if found := _BROKER.search(text) or _OLD_BROKER.match(text):
        return Context(role=role, broker_id=int(found[1]), text=text)
    return Context(role=role, text=text)


def _bracket(text: str) -> tuple[str | None, str]:
    """Return the text of a leading bracket and what follows; brackets inside it (`[stream [main]]`) count."""
    if text[:1] == "<" and (found := _ANGLES.match(text) or _SENDER.match(text)):
        named = found[1].removesuffix(" transactional_id=None")
        return named.replace(" transactional_id=", ", transactional_id="), text[found.end() :]
    if text[:1] != "[":
        return None, text
    end = text.find("]", 1, LONGEST_BRACKET)
    while end > 0 and (text.count("[", 0, end) - text.count("]", 0, end + 1)) > 0:
        end = text.find("]", end + 1, LONGEST_BRACKET)
    if end > 0:
        return text[1:end], text[end + 1 :].removeprefix(":").removeprefix(",").removeprefix(" ")
    return None, text


def _without_front(message: str) -> tuple[Context, str]:
    """Read a bracket whose front is missing: `ducer clientId=C, transactionalId=T] message`."""
    if "]" in message[:LONGEST_BRACKET] and (found := _TAIL.match(message)):
        text = found[0].rstrip(": ").removesuffix("]")
        if pairs := _pairs(text):
            return replace(pairs, is_damaged=True, text=text), message[found.end() :]
    return NOTHING, message


def _pairs(text: str) -> Context | None:
    """Read the ids of `a=x, b=y`; a value reaches up to the next name that is known. None if there is none."""
    text = _whole_name(text)
    found = list(_PAIRS.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)] if found else []
    read = {_FIELDS[name[1]]: text[name.end() : end].rstrip(", ") for name, end in zip(found, ends, strict=True)}
    if text.startswith("tx_id={") and text.endswith("}"):
        read["transactional_id"] = read["transactional_id"][1:-1]
    if not any(read.values()):
        return None
    return Context(
        client_id=read.get("client_id", ""),
        transactional_id=read.get("transactional_id", ""),
        group=read.get("group", ""),
        instance_id=read.get("instance_id", ""),
    )


def _whole_name(text: str) -> str:
    """Restore a name that lost its front (`ntId=C`), where only one can be meant."""
    cut = text.partition("=")[0]
    whole = [name for name in _FIELDS if cut and name.endswith(cut) and name != cut and "_" not in name]
    return whole[0] + text[len(cut) :] if len(whole) == 1 else text


def _joined(first: Context, second: Context) -> Context:
    """Lay two contexts together; the inner (later) one wins."""
    if first is NOTHING:
        return second
    return Context(
        role=second.role or first.role,
        client_id=second.client_id or first.client_id,
        transactional_id=second.transactional_id or first.transactional_id,
        group=second.group or first.group,
        instance_id=second.instance_id or first.instance_id,
        broker_id=second.broker_id if second.broker_id >= 0 else first.broker_id,
        is_damaged=first.is_damaged or second.is_damaged,
        text=second.text or first.text,
    )
