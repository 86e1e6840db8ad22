"""Layouts of log lines: what stands where, as data, each with lines that must fit.

A layout is a shape of `{fields}` with literal text between them: `{time} [{thread}] {level} {logger} - {message}`.
A blank stands for one or more, also a tab. The level may stand in brackets of its own in every layout. What other
tools put before the line of a logger (docker, kubectl, journald, grep) is taken off first: wrappers.py.

Order    the more a layout demands, the earlier it is tried; the first that fits wins. A file keeps to the one that fits
         most of its lines, see framing.py.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from kafkatx.terms.events import LOUD_LEVELS, Level
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.stamps import STAMP

MOST_REMEMBERED = 1024
"""Lines of which is remembered which layout they have: of a short text several readers ask, one behind the other."""

LEVELS = {
    "TRACE": Level.trace, "FINEST": Level.trace, "FINER": Level.trace,
    "DEBUG": Level.debug, "FINE": Level.debug, "CONFIG": Level.debug, "DBG": Level.debug,
    "INFO": Level.info, "INF": Level.info, "NOTICE": Level.info, "INFORMATION": Level.info,
    "WARN": Level.warn, "WARNING": Level.warn, "WRN": Level.warn,
    "ERROR": Level.error, "ERR": Level.error, "SEVERE": Level.error, "FATAL": Level.error, "CRITICAL": Level.error,
    "FTL": Level.error, "PANIC": Level.error, "EMERGENCY": Level.error, "ALERT": Level.error,
}  # fmt: skip
"""Names of levels (upper case) of log4j, logback, java.util.logging, Python, Go, syslog."""
OF_NET = {"TRCE": Level.trace, "DBUG": Level.debug, "FAIL": Level.error, "CRIT": Level.error}
"""What .NET's console logger calls some levels: `fail: Category[0]`, the message in the next line."""

SYSLOG_LEVELS = (
    Level.error, Level.error, Level.error, Level.error, Level.warn, Level.info, Level.info, Level.debug,
)  # fmt: skip
"""Levels of syslog by number, 0 (emergency) to 7 (debug); librdkafka prints them (`%7|...`)."""

_NAMES = "|".join(sorted(LEVELS, key=len, reverse=True))
_SMALL = f"{_NAMES.lower()}|{'|'.join(name.capitalize() for name in LEVELS)}"
_FIELDS = {
    "time": rf"\[? ?(?P<time>{STAMP}) ?\]?",
    "level": rf"(?:[\[<(] {{0,4}})?(?P<level>(?:{_NAMES})(?![\w$])|(?:{_SMALL})(?=[\])>\t:]))(?: {{0,4}}[\])>])?",
    "thread": r"(?P<thread>[^\[\]\n]{1,250}(?:\[[^\[\]\n]{0,120}\][^\[\]\n]{0,120})?)",
    "app": r"[^\[\]\n]{0,120}?",
    "logger": r"(?P<logger>[A-Za-z_$][\w$./#:\[\]-]{0,249}?)",
    "dotted": r"(?P<logger>(?![\w.$]{0,249}(?:Exception|Error|Throwable)\b)"
    r"(?:[A-Za-z_$][\w$-]{0,99}\.){1,20}[\w$-]{1,99}|aiokafka|kafka(?! server:|:)|rdkafka|librdkafka|kgo"
    r"|[A-Z]\w{5,39}(?= \[(?:Producer|Consumer) clientId=))",
    "enclosed": r"(?P<thread>[^()\n]{1,250}(?:\([^()\n]{0,120}\)[^()\n]{0,120})?)",
    "plain": r"(?P<thread>[^\[\]\n=]{1,250})",
    "class": r"(?P<logger>(?!TransactionalId:|\w{0,79}(?:Exception|Error|Fenced|Operation)\b)[A-Z][A-Za-z0-9_$]{2,79})",
    "kafka class": r"(?P<logger>Kafka(?:Producer|Consumer|AdminClient)|Sender|TransactionManager|NetworkClient|Metadata"
    r"|RecordAccumulator|ProducerBatch|ProducerConfig|ConsumerConfig|AppInfoParser|[A-Z][a-z]{1,20}Coordinator)",
    "facility": r"(?P<logger>[A-Z][A-Z0-9_]{1,31})",
    "name": r"(?P<thread>[^|\n]{1,250})",
    "initial": r"[DIWEFA]",
    "process": r"#\d{1,10}",
    "net": r"(?P<level>trce|dbug|info|warn|fail|crit)",
    "category": r"(?P<logger>[A-Za-z_][\w.`+-]{1,249})",
    "number": r"\d{1,10}",
    "facet": r"[\w./{}-]{1,100}",
    "prefix": r"(?:\[[^\n]{1,300}?\] (?:- )?)?",
    "source": r"(?P<logger>[a-z]\w{1,60}\.(?:cc|h))",
    "digit": r"(?P<number>[0-7])",
    "loud": rf"(?P<level>{LOUD_LEVELS})(?::|(?=[ \t]))",
    "client": r"(?=\[[^\[\]]{0,120}[cC]lient_?[Ii]d=|\[Transaction|\[?stream-(?:thread|client))",
    "message": r"(?P<message>.*)",
}


TIME_FIRST = "{time} "
"""How most shapes begin."""
_HEAD = regex(_FIELDS["time"] + r"(?=[ \t])")
Head = tuple[str, int]
"""A time that a line begins with, and where the blank behind it stands."""
Groups = dict[str, str | None]
"""What a line has of the fields of its layout, by name."""


def heads(text: str) -> tuple[Head, ...]:
    """The times that a line can be said to begin with, the longest first: `10:23:51 UTC`, and `10:23:51`."""
    found: list[Head] = []
    end = len(text)
    while head := _HEAD.match(text, 0, end):
        end = head.end()
        found.append((head["time"], end))
    return tuple(found)


@dataclass(frozen=True)
class LineLayout:
    """A shape and lines that have it: each what stands before the message, the message, what stands behind it."""

    name: str
    shape: str
    samples: tuple[tuple[str, str, str], ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The shape as a regular expression; every repetition in it is bounded or followed by what it can't hold."""
        return regex(self._written(self.shape), re.DOTALL)

    def read(self, text: str, begins: tuple[Head, ...]) -> Groups | None:
        """Return what a line holds that has this layout, None for another; `begins` are its `heads`.

        It is what `pattern` finds. Most layouts begin with a time, which is the dearest part: it is read once for all.
        """
        plain = text.replace("\t", " ") if "\t" in text else text
        for sign in self._signs:
            if sign not in plain:
                return None
        if not self._begins_with_time:
            return found.groupdict() if (found := self.pattern.match(text)) else None
        for time, end in begins:
            if found := self._behind_time.match(text, end):
                return {**found.groupdict(), "time": time}
        return None

    @cached_property
    def _signs(self) -> tuple[str, ...]:
        """What stands between the fields, each with the blank before it: quick to look for."""
        head = self.shape.removesuffix("{message}").rstrip()
        return tuple(sign for piece in re.split(r"\{[\w ]+\}", head) for sign in re.findall(r" ?\S+", piece))

    @cached_property
    def _begins_with_time(self) -> bool:
        return self.shape.removesuffix("{message}").rstrip().startswith(TIME_FIRST)

    @cached_property
    def _behind_time(self) -> re.Pattern[str]:
        return regex(self._written(self.shape.removeprefix(TIME_FIRST.rstrip())), re.DOTALL)

    def _written(self, shape: str) -> str:
        head = re.split(r"(\{[\w ]+\}| )", shape.removesuffix("{message}").rstrip())
        return "".join(map(_piece, head)) + r"(?!(?<=[ \t]-)\d)[ \t]{0,8}" + _FIELDS["message"]  # `Node -1`: no dash


def _piece(piece: str) -> str:
    if piece == " ":
        return r"[ \t]{1,8}"
    return _FIELDS[piece[1:-1]] if piece[:1] == "{" else re.escape(piece)


def _of(name: str, shape: str, *samples: tuple[str, str] | tuple[str, str, str]) -> LineLayout:
    return LineLayout(
        name, shape, tuple((sample[0], sample[1], sample[2] if len(sample) > 2 else "") for sample in samples)
    )


_SEND = "Got error produce response with correlation id 8515 on topic-partition T-0, retrying (46 attempts left)."
_ABORT = "Aborting incomplete transaction"
_IDS = "[Producer clientId=producer-3, transactionalId=T-0] "

LAYOUTS = (
    _of(
        "librdkafka",
        "%{digit}|{time}|{facility}|{name}| {message}",
        ("%7|1795256939.072|TXNSTATE|orders#producer-1| [thrd:main]: ", "Transaction state change Init -> WaitPID"),
    ),
    _of(
        "spring boot 3",
        "{time} {level} {number} --- [{app}] [{thread}] {logger} : {message}",
        (
            "2024-04-03T18:21:00.063+08:00  INFO 1 --- [orders] [nio-8080-exec-1] o.a.k.c.p.KafkaProducer      : "
            + _IDS,
            _ABORT,
        ),
    ),
    _of(
        "spring boot",
        "{time} {level} {number} --- [{thread}] {logger} : {message}",
        (
            "2023-02-08 15:42:22.815  WARN 4711 --- [ad | producer-3] o.a.k.c.producer.internals.Sender  : " + _IDS,
            _SEND,
        ),
    ),
    _of(
        "time thread level logger -",
        "{time} [{thread}] {level} {logger} - {message}",
        (
            "2026-11-21 10:29:43.835 [main] INFO  org.apache.kafka.common.config.AbstractConfig - ",
            "ProducerConfig values:",
        ),
        ("15:42:22.815 [kafka-producer-network-thread | p-3] WARN  o.a.k.c.p.internals.Sender - " + _IDS, _SEND),
        ("20231221 09:48:17,309 [main] DEBUG com.example.Orders - ", "begin"),
        ("1795256939072 [Sink: Writer (1/2)#0] INFO  org.apache.flink.connector.kafka.sink.KafkaWriter - ", "begin"),
    ),
    _of(
        "time thread level logger:",
        "{time} [{thread}] {level} {dotted}: {message}",
        ("2023-02-08 15:42:22,815 [main] INFO com.example.Orders: ", "begin"),
    ),
    _of(
        "time level thread logger -",
        "{time} {level} [{thread}] {logger} - {message}",
        (
            "2023-02-08 15:42:22,815 WARN  [kafka-producer-network-thread | p] o.a.kafka.clients.NetworkClient - ",
            "down",
        ),
    ),
    _of(
        "time level thread logger:",
        "{time} {level} [{thread}] {dotted}: {message}",
        ("2023-02-08T15:42:22.815Z [WARN ] [main] com.example.Orders: ", "slow"),
    ),
    _of(
        "time level thread class:",
        "{time} {level} [{plain}] {class}: {message}",
        ("21 Nov 2026 23:12:54,713 INFO  [main] KafkaProducer: " + _IDS, _ABORT),
        ("2023-02-08 15:42:22,815 ERROR [main] Orders: ", "Error while committing transaction"),
    ),
    _of(
        "time thread level class:",
        "{time} [{plain}] {level} {class}: {message}",
        ("2023-02-08 15:42:22,815 [kafka-producer-network-thread | p-3] WARN Sender: " + _IDS, _SEND),
    ),
    _of(
        "time level thread logger :",
        "{time} {level} [{thread}] {dotted} : {message}",
        ("2024-04-03 18:21:00.063 INFO  [writer-1] o.a.k.clients.producer.KafkaProducer : " + _IDS, _ABORT),
    ),
    _of(
        "time thread level logger :",
        "{time} [{thread}] {level} {dotted} : {message}",
        ("2024-04-03 18:21:00.063 [writer-1] INFO  o.a.k.clients.producer.KafkaProducer : " + _IDS, _ABORT),
    ),
    _of(
        "time level logger :",
        "{time} {level} {dotted} : {message}",
        ("2024-04-03 18:21:00.063 INFO  o.a.k.clients.producer.KafkaProducer : " + _IDS, _ABORT),
    ),
    _of(
        "time level logger (thread)",
        "{time} {level} [{dotted}] ({enclosed}) {message}",
        ("2024-04-03 18:21:00,063 INFO  [o.a.k.clients.producer.KafkaProducer] (executor-thread-1) " + _IDS, _ABORT),
        ("2024-04-03 18:21:00,063 ERROR [com.example.Pool] (executor-thread-1) ", "exhausted (max 10) on `a`"),
    ),
    _of(
        "time level logger [] -",
        "{time} {level} {dotted} [] - {message}",
        ("2024-04-03 18:21:00,063 INFO  org.apache.kafka.clients.producer.KafkaProducer      [] - " + _IDS, _ABORT),
    ),
    _of(
        "tag time level logger [] -",
        "[{thread}] {time} {level} {dotted} [] - {message}",
        ("[job-1] 2024-04-03 18:21:00,063 INFO  o.a.k.clients.producer.KafkaProducer [] - " + _IDS, _ABORT),
    ),
    _of(
        "time level logger [thread]",
        "{time} {level} {dotted} [{thread}] - {message}",
        ("2024-04-03 18:21:00,063 INFO  org.apache.kafka.clients.producer.KafkaProducer [main] - " + _IDS, _ABORT),
    ),
    _of(
        "all in brackets",
        "{time} {level} [{dotted}] [{app}] {message}",
        ("[2019-01-22 08:31:40,510] [WARN ] [o.a.kafka.clients.producer.internals.Sender] [] [" + _IDS, _SEND, "]"),
    ),
    _of(
        "thread first",
        "[{thread}] {time} {level} {logger} - {message}",
        ("[main] 2024-04-03 18:21:00,063 INFO com.example.Orders - ", "begin"),
    ),
    _of(
        "redpanda",
        "{level} {time} [{thread}] {facet} - {prefix}{source}:{number} - {message}",
        (
            "INFO  2024-12-12 10:31:08,402 [shard 1:main] tx - tx_gateway_frontend.cc:2497 - [tx_id=orders-1] ",
            "producer {producer_identity: id=2, epoch=5} is fenced of by {id=2, epoch=6}",
        ),
        ("ERROR 2022-10-04 09:12:44,018 [shard 0] cluster - rm_stm.cc:1463 - ", "Invalid sequence number"),
        ("WARN  2023-01-14 05:06:13,174 [shard 13] tx - [N:G S:Stable G:516] group.cc:1808 - ", "Unexpected state"),
        ("TRACE 2024-07-30 18:30:50,082 [shard 0:main] tx - [{kafka/T/8}] - rm_stm.cc:1147 - ", "error from"),
    ),
    _of(
        "level first, thread",
        "{level} {time} [{thread}] {logger} - {message}",
        ("INFO  2024-04-03 18:21:00,063 [main] com.example.Orders - ", "begin"),
    ),
    _of(
        "level first",
        "{level} {time} {dotted} - {message}",
        ("INFO 2024-04-03 18:21:00,063 com.example.Orders - ", "begin"),
    ),
    _of(
        "level first, dotted:",
        "{level} {time} {dotted}: {message}",
        ("ERROR [2024-04-03 18:21:00,063] com.example.Orders: ", "commit failed"),
    ),
    _of(
        "librdkafka through a logger",
        "{time} {level} rdkafka {message}",
        ("2026-11-21 10:42:38.704 DEBUG rdkafka GETPID [ap#producer-1] [thrd:main]: ", "Acquired PID{Id:0,Epoch:0}"),
    ),
    _of(
        "time level logger -",
        "{time} {level} {logger} - {message}",
        ("2024-04-03 18:21:00,063 INFO com.example.Orders - ", "begin"),
    ),
    _of(
        "time logger level -",
        "{time} - {logger} - {level} - {message}",
        (
            "2024-04-03 18:21:00,063 - aiokafka.producer.sender - INFO - ",
            "Discovered coordinator 1 for transactional id a",
        ),
    ),
    _of(
        "time level logger:",
        "{time} {level} {dotted}: {message}",
        ("2024-04-03 18:21:00,063 INFO kafka.producer.kafka: ", "up"),
    ),
    _of(
        "time level class:",
        "{time} {level} {kafka class}: {message}",
        ("2023-02-08 15:42:22,815 WARN  Sender: " + _IDS, _SEND),
    ),
    _of(
        "time level logger",
        "{time} {level} {dotted} {message}",
        ("15:42:22.815 DEBUG NetworkClient " + _IDS, _SEND),
        (
            "2026-11-21 11:51:43.341 INFO kafka.producer.kafka <KafkaProducer client_id=k transactional_id=t>: ",
            "Instantiated a transactional producer.",
        ),
    ),
    _of(
        "time level",
        "{time} {level} {message}",
        (
            "[2026-11-21 10:23:51,003] INFO [TransactionCoordinator id=1] ",
            "Startup complete.",
            " (kafka.coordinator.transaction.TransactionCoordinator)",
        ),
        ("2026-11-21 11:51:52.781 [INFO] ", "producer id initialization success; id: 9, epoch: 0"),
        ("2026-11-21 10:42:52.609 ERROR ", "billing commit failed: KafkaError{FATAL,code=_FENCED,val=-144}"),
        ("Nov 21, 2026 3:42:22 PM INFO ", "begin"),
    ),
    _of(
        "logger of Ruby",
        "{initial}, [{time} {process}] {level} -- {app}: {message}",
        ("D, [2023-02-02T03:11:40.118243 #71] DEBUG -- : ", "Coordinator not available; retrying in 1s"),
        ("W, [2026-11-21T10:23:51.003118 #1]  WARN -- karafka: ", "slow"),
    ),
    _of(
        "python basic",
        "{level}:{dotted}:{message}",
        ("INFO:aiokafka.producer.sender:", "Discovered coordinator 1 for transactional id a"),
    ),
    _of(
        "thread level logger",
        "[{thread}] {level} {logger} - {message}",
        ("[main] INFO org.apache.kafka.clients.producer.KafkaProducer - " + _IDS, _ABORT),
    ),
    _of(
        "level logger",
        "{level} {dotted} - {message}",
        ("WARN  org.apache.kafka.clients.NetworkClient - [Producer clientId=p] ", "Node 1 disconnected."),
    ),
    _of(
        "level, client",
        "{level} {client}{message}",
        ("WARN " + _IDS, _SEND),
    ),
    _of(
        "akka",
        "[{level}] [{time}] [{thread}] [{logger}] {message}",
        ("[ERROR] [08/14/2019 20:33:16.012] [app-akka.actor.default-dispatcher-9] [akka.actor.Actor] ", "down"),
    ),
    _of("level", "[{level}] {message}", ("[INFO] ", "beginning transaction; transactional_id: t")),
    _of(
        "level without anything",
        "{loud} {message}",
        ("ERROR ", "billing failed, aborting"),
        ("INFO  ", "ProducerId set to 9 with epoch 0"),
        ("WARN: ", "slow"),
    ),
    _of(
        "java.util.logging",
        "{time} {dotted} {message}",
        ("Feb 08, 2023 3:42:22 PM org.apache.kafka.clients.producer.KafkaProducer ", "close"),
    ),
    _of(
        "name and time",
        "[{app}] {time} {message}",
        ("[sarama] 2024/11/19 06:00:13 ", "txnmgr/init-producer-id [a] obtained a ProducerId: 6 and ProducerEpoch: 2"),
    ),
    _of("console of .NET", "{net}: {category}[{number}]{message}", ("fail: Reconciliation.Worker[0]", "")),
    _of("time", "{time} {message}", ("2024/04/03 18:21:00 ", "producer id initialization success; id: 9, epoch: 0")),
)


@lru_cache(maxsize=MOST_REMEMBERED)
def first_fitting(text: str) -> int | None:
    """Return the number of the first layout that a line has, None where it has none."""
    begins = heads(text)
    return next((number for number, layout in enumerate(LAYOUTS) if layout.read(text, begins)), None)
