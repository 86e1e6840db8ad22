"""How each client other than Java's prints a text: in its own log, as a binding's error, by loggers of its language.

A row of the tables beside this file is a text of one client with the errors that it can carry; a form makes a page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkatx.terms.catalogue.loading import error_codes, spellings

FOLDER = Path(__file__).parent
QUIET, FAILURE, BY_CODE = "quiet", "failure", "*"
BY_CONNECTION = frozenset({"broker_unreachable", "coordinator_unavailable"})
"""What lines without a code tell of a connection that is made again."""
Page = tuple[str, str]
"""The name of a form and what is printed."""

RUST = {
    -195: "BrokerTransportFailure", -192: "MessageTimedOut", -185: "OperationTimedOut", -172: "State",
    -165: "UnsupportedFeature", -152: "PurgeQueue", -151: "PurgeInflight", -150: "Fatal", -149: "Inconsistent",
    -148: "GaplessGuarantee", -144: "Fenced", 3: "UnknownTopicOrPartition", 10: "MessageSizeTooLarge",
    18: "MessageBatchTooLarge", 48: "InvalidTransactionalState",
}  # fmt: skip
"""rust-rdkafka's names where they are not librdkafka's in other letters."""
TITLES = {
    3: "Unknown Topic Or Partition", 6: "Not Leader For Partition", 10: "Message Size Too Large",
    15: "Group Coordinator Not Available", 16: "Not Coordinator For Group", 25: "Unknown Member ID",
    48: "Invalid Transaction State", 49: "Invalid Producer ID Mapping", 53: "Transactional ID Authorization Failed",
    59: "Unknown Producer ID", 82: "Fenced Instance ID",
}  # fmt: skip
"""kafka-go's titles where they are not the protocol's names in other letters."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A text that a client prints: in which form, of which error, and what it has to be read as.

    `told` are the rules of which one must be a finding or one of the first two candidates; empty where any will do.
    What is quiet is no failure: it may be a witness of what its error shows (`allowed`), and of nothing else.
    """

    client: str
    form: str
    code: int | None
    told: frozenset[str]
    is_quiet: bool
    text: str
    allowed: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """A name for reports."""
        return f"{self.client} {self.form} {self.text} [{self.code}]"


def printed_texts() -> Iterator[Printed]:
    """Yield every text with every error that it can carry."""
    by_code = dict(_told_by_code())
    for path in sorted(FOLDER.glob("*_texts.tsv")):
        for line in path.read_text().splitlines()[1:]:
            client, form, codes, told, text = line.split("\t")
            for code in codes.split(","):
                number = int(code) if code != "-" else _code_of_form(form)
                rules = by_code[number] if told == BY_CODE and number is not None else _rules(told)
                filled = _filled(client, text, number if code != "-" else None)
                form_of = form.replace("{c}", code)
                allowed = by_code.get(number, frozenset()) if number is not None else BY_CONNECTION
                yield Printed(client, form_of, number, rules, told == QUIET, filled, allowed)


def pages_of(printed: Printed) -> Iterator[Page]:
    """Yield the pages that a text may stand in."""
    forms = {
        "librdkafka": _librdkafka, "sarama": _go, "franz-go": _go, "kafka-go": _go, "kafkajs": _kafkajs,
        "aiokafka": _python, "faust": _python, "kafka-python": _python, "platformatic-kafka": _platformatic,
    }  # fmt: skip
    yield from forms[printed.client](printed)


def _rules(told: str) -> frozenset[str]:
    return frozenset() if told in (QUIET, FAILURE) else frozenset(told.split(","))


def _told_by_code() -> Iterator[tuple[int, frozenset[str]]]:
    for line in (FOLDER / "told_by_code.tsv").read_text().splitlines()[1:]:
        codes, rules = line.split("\t")
        yield from ((int(code), _rules(rules)) for code in codes.split(","))


def _code_of_form(form: str) -> int | None:
    found = re.search(r":(-\d+):", form)
    return int(found[1]) if found is not None else None


def _filled(client: str, text: str, code: int | None) -> str:
    """A text with the words {e}, {m} or {d}, the name {n} or {k}, the title {t} and the number {c} of an error."""
    if code is None:
        return text
    name, words = _name(client, code), _words(client, code)
    title = TITLES.get(code) or name.replace("_", " ").title()
    values = {"e": words, "m": words, "d": words[:1].lower() + words[1:], "n": name, "t": title, "c": str(code)}
    values["k"] = f"<class '{client}.errors.{name}'>"
    return re.sub(r"\{(\w)\}", lambda found: values[found[1]], text)


def _name(client: str, code: int) -> str:
    """What a client calls an error."""
    own = [entry.name for entry in spellings() if entry.client == client and entry.code == code and entry.name]
    known = next((error for error in reversed(error_codes()) if error.code == code), None)
    if client in ("aiokafka", "kafka-python"):
        if code == 6:
            return "NotLeaderForPartitionError"
        plain = "".join(part.title() for part in known.name.split("_")) if known is not None else "UnknownError"
        is_bare = client == "aiokafka" and 45 <= code <= 59
        return own[0] if own else f"{plain}{'' if is_bare or plain.endswith('Error') else 'Error'}"
    return own[0] if own and client in ("librdkafka", "kafkajs") else known.name if known is not None else "UNKNOWN"


def _words(client: str, code: int) -> str:
    """A client's words for an error; Kafka's own where it has no others."""
    own = [entry.text for entry in spellings() if entry.client == client and entry.code == code and entry.text]
    known = next((error for error in error_codes() if error.code == code), None)
    kafkas = known.messages[-1].text if known is not None and known.messages else ""
    if client == "kafka-go":
        return kafkas.rstrip(".")
    return own[0] if own else kafkas.rstrip(".") if client == "kafkajs" else kafkas


def _librdkafka(printed: Printed) -> Iterator[Page]:
    name = _name("librdkafka", printed.code) if printed.code is not None else ""
    lines = {
        "fatal": (1, "TXNERR", f"Fatal transaction error: {printed.text} ({name})"),
        "abortable": (3, "TXNERR", f"Current transaction failed in state InTransaction: {printed.text} ({name})"),
        "abortable_bump": (
            3, "TXNERR",
            f"Current transaction failed in state BeginCommit: {printed.text} ({name}, requires epoch bump)",
        ),
        "abortable_old": (3, "TXNERR", f"Current transaction failed: {printed.text} ({name})"),
    }  # fmt: skip
    if printed.form in lines:
        yield from _rdkafka_lines(*lines[printed.form])
        if printed.form == "fatal":
            yield from _rdkafka_lines(
                0, "FATAL", f"Fatal error: {_words('librdkafka', printed.code or 0)}: {printed.text}"
            )
    elif printed.form == "delivery":
        yield from _deliveries(printed, name)
    elif printed.form[:1].isdigit():
        level, _, facility = printed.form.partition(":")
        yield from _rdkafka_lines(int(level), facility, printed.text)
    else:
        yield from _bindings(printed, name)


OF_CONSUMERS = frozenset({"COMMITFAIL"})
"""Facilities that only consumers log under."""


def _rdkafka_lines(level: int, facility: str, text: str) -> Iterator[Page]:
    handle = "rdkafka#consumer-1" if facility in OF_CONSUMERS else "rdkafka#producer-1"
    yield "stderr", f"%{level}|1718000001.123|{facility}|{handle}| [thrd:main]: {text}\n"
    message = json.dumps(f"[thrd:main]: {text}")
    yield "zap", f'{{"level":"info","ts":1718000001.12,"logger":"kafka","fac":"{facility}","msg":{message}}}\n'
    yield "node", json.dumps({"severity": level, "fac": facility, "message": f"[thrd:main]: {text}"}) + "\n"
    yield "rust", f"[2024-06-10T06:13:21Z ERROR rdkafka::client] librdkafka: {facility} [thrd:main]: {text}\n"
    yield "python", f"2024-06-10 06:13:21,123 ERROR app.kafka {facility} [{handle}] [thrd:main]: {text}\n"


def _deliveries(printed: Printed, name: str) -> Iterator[Page]:
    code, words = printed.code or 0, printed.text
    rust = RUST.get(code) or "".join(part.title() for part in name.split("_"))
    net = ("Local_" if name.startswith("_") else "") + "".join(part.title() for part in name.split("_"))
    yield "python", f'delivery failed: KafkaError{{code={name},val={code},str="{words}"}}\n'
    yield "go", f"2024/06/10 06:13:21 Delivery failed: orders[3]@unset({words})\n"
    yield "dotnet", f"Confluent.Kafka.ProduceException`2[System.Null,System.String]: {words}\n   at App.Run()\n"
    yield "dotnet code", f"2024-06-10 06:13:21.123 [ERR] Delivery failed: {words} ({net})\n"
    yield "rust", f"[2024-06-10T06:13:21Z ERROR app] delivery failed: Message production error: {rust} ({words})\n"
    yield "rust debug", f"Error: KafkaError (Message production error: {rust} ({words}))\n"
    yield "ruby", f"Rdkafka::RdkafkaError: {words} ({name.lower().lstrip('_')})\n"
    yield "node", f"Error: {words}\n    at Function.createLibrdkafkaError [as create] (/app/lib/error.js:456:10) {{\n" \
        f"  errno: {code},\n  code: {code},\n  origin: 'local'\n}}\n"  # fmt: skip


def _bindings(printed: Printed, name: str) -> Iterator[Page]:
    kind, _, call = printed.form.split(":")
    code, text, camel = printed.code or 0, printed.text, "".join(part.title() for part in call.split("_"))
    fatal = "FATAL," if kind == "fatal" else ""
    net = {"retriable": "KafkaRetriableException", "abort": "KafkaTxnRequiresAbortException"}.get(
        kind, "KafkaException"
    )
    yield (
        "python",
        f'Traceback (most recent call last):\n  File "/app/main.py", line 41, in run\n    producer.{call}()\n'
        f'cimpl.KafkaException: KafkaError{{{fatal}code={name},val={code},str="{text}"}}\n',
    )
    told = f"Fatal error: {text}" if kind == "fatal" else text
    yield "go", f"2024/06/10 06:13:21 {call.replace('_', ' ')}: {told}\n"
    yield "zap", f'{{"level":"error","ts":1718000001.12,"msg":"{camel} failed","error":{json.dumps(told)}}}\n'
    yield "logrus", f'time="2024-06-10T06:13:21Z" level=error msg="{camel} failed" error={json.dumps(told)}\n'
    yield (
        "dotnet",
        f"Unhandled exception. Confluent.Kafka.{net}: {text}\n"
        f"   at Confluent.Kafka.Impl.SafeKafkaHandle.{camel}(Int32 millisecondsTimeout)\n"
        f"   at Confluent.Kafka.Producer`2.{camel}(TimeSpan timeout)\n",
    )
    javascript = camel[:1].lower() + camel[1:]
    yield (
        "node",
        f"LibrdKafkaError: {text}\n    at Function.createLibrdkafkaError [as create] (/app/lib/error.js:456:10)\n"
        f"    at /app/lib/producer.js:321:30 {{\n  code: {code},\n  errno: {code},\n  origin: 'kafka'\n}}\n",
    )
    yield (
        "confluent-kafka-javascript",
        f"KafkaJSError: {text}\n    at Producer.{javascript} (/app/lib/kafkajs/_producer.js:312:11) {{\n"
        f"  retriable: {str(kind == 'retriable').lower()},\n  fatal: {str(kind == 'fatal').lower()},\n"
        f"  abortable: {str(kind == 'abort').lower()},\n  code: {code},\n  type: 'ERR_{name}'\n}}\n",
    )
    yield "rust", f"[2024-06-10T06:13:21Z ERROR app] {call} failed: Transaction error: {text}\n"
    yield "rust debug", f"Error: KafkaError (Transaction error: {text})\n"
    yield (
        "php",
        f"PHP Fatal error:  Uncaught RdKafka\\KafkaErrorException: {text} in /srv/app/Writer.php:12\nStack trace:\n"
        f"#0 /srv/app/Writer.php(12): RdKafka\\Producer->{javascript}(10000)\n#1 {{main}}\n",
    )


def _go(printed: Printed) -> Iterator[Page]:
    text = printed.text
    level = printed.form.partition(":")[2] or "INFO"
    if printed.client == "sarama" and printed.form == "log":
        yield "logger", f"[sarama] 2024/06/10 06:13:21 {text}\n"
        yield "Sarama", f"[Sarama] 2024/06/10 06:13:21.123456 {text}\n"
        yield "info of zap", f'{{"level":"info","ts":1718000001.12,"logger":"sarama","msg":{json.dumps(text)}}}\n'
        yield "info of logrus", f'time="2024-06-10T06:13:21Z" level=info msg={json.dumps(text)} component=sarama\n'
        yield "log", f"2024/06/10 06:13:21 {text}\n"
        return
    elif printed.form.startswith("log"):
        yield "basic", f"[{level}] {text}\n"
        yield "zap", _zap(level, text)
        yield "slog", _slog(level, text)
        return
    yield "zap error", f'{{"level":"error","ts":1718000001.12,"msg":"transaction failed","error":{json.dumps(text)}}}\n'
    yield "logrus", f'time="2024-06-10T06:13:21Z" level=error msg="transaction failed" error={json.dumps(text)}\n'
    yield "log", f"2024/06/10 06:13:21 {text}\n"
    if printed.form == "error":
        yield "log with words", f"2024/06/10 06:13:21 commit failed: {text}\n"
        yield "panic", f"panic: {text}\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:41 +0x1d\n"
        yield (
            "zerolog",
            f'{{"level":"error","error":{json.dumps(text)},"time":"2024-06-10T06:13:21Z","message":"tx"}}\n',
        )


def _pairs(text: str) -> tuple[str, list[tuple[str, str]]]:
    """A message of franz-go and its keys with their values."""
    start = re.search(r"; (?=[a-z_0-9]+: )", text)
    if start is None:
        return text, []
    parts = re.split(r"(?:^|, )([a-z_0-9]+): ", text[start.end() :])
    return text[: start.start()], list(zip(parts[1::2], parts[2::2], strict=True))


def _zap(level: str, text: str) -> str:
    message, pairs = _pairs(text)
    return (
        json.dumps({"level": level.lower(), "ts": 1718000001.12, "logger": "kgo", "msg": message, **dict(pairs)}) + "\n"
    )


def _slog(level: str, text: str) -> str:
    message, pairs = _pairs(text)
    told = " ".join(f"{key}={json.dumps(value) if ' ' in value else value}" for key, value in pairs)
    return f"time=2024-06-10T06:13:21.123Z level={level} msg={json.dumps(message)} {told}".rstrip() + "\n"


def _kafkajs(printed: Printed) -> Iterator[Page]:
    kind, _, rest = printed.form.partition(":")
    if kind == "log":
        level, _, space = rest.partition(":")
        message, _, error = printed.text.partition("|")
        told = {"level": level, "timestamp": "2024-06-10T06:13:21.123Z", "logger": "kafkajs"}
        told |= {"message": f"{space}{message}", "broker": "k1:9092", "clientId": "orders"} | (
            {"error": error} if error else {}
        )
        yield "json", json.dumps(told) + "\n"
        yield "pretty", f"{level}: {space}{message} {json.dumps({'error': error}) if error else ''}".rstrip() + "\n"
        return
    name, text = rest, printed.text
    kinds = {"KafkaJSNumberOfRetriesExceeded": "KafkaJSNonRetriableError"}
    shown = f"{name} [{kinds[name]}]" if name in kinds else name
    code = f"\n  code: {printed.code},\n  type: '{_name('kafkajs', printed.code)}'" if printed.code is not None else ""
    frame = "    at /app/node_modules/kafkajs/src/retry/index.js:55:18"
    yield "thrown", f"{shown}: {text}\n{frame} {{\n  retriable: false,{code}\n}}\n"
    yield "one line", f"{name}: {text}\n"
    yield (
        "pino",
        json.dumps({"level": 50, "time": 1718000001123, "err": {"type": name, "message": text}, "msg": text}) + "\n",
    )
    stack = f"{name}: {text}\n{frame}"
    yield "winston", json.dumps({"level": "error", "message": f"transaction failed: {text}", "stack": stack}) + "\n"
    yield (
        "console",
        f"Error committing {name}: {text}\n    at createErrorFromCode (/app/kafkajs/src/protocol/error.js:581:10)\n",
    )


def _platformatic(printed: Printed) -> Iterator[Page]:
    """@platformatic/kafka 2.9: what it finds out itself, and an answer within what unites all attempts."""
    frame = (
        "    at Producer.send (file:///app/node_modules/@platformatic/kafka/dist/clients/producer/producer.js:230:22)"
    )
    if printed.code is None:
        told = {"type": "UserError", "message": printed.text, "stack": f"UserError: {printed.text}\n{frame}"}
        yield "thrown", f"UserError: {printed.text}\n{frame} {{\n  code: 'PLT_KFK_USER',\n  canRetry: false\n}}\n"
        yield "pino", json.dumps({"level": 50, "time": 1718000001123, "err": told, "msg": "writing failed"}) + "\n"
        return
    call, name = printed.form, _name("platformatic-kafka", printed.code)
    answer = f"Received response with error while executing API {call}(v4)"
    united = f"{call[:1].lower()}{call[1:]} failed 1 times."
    yield (
        "thrown",
        f"MultipleErrors: {united}\n{frame} {{\n  code: 'PLT_KFK_MULTIPLE',\n  [errors]: [\n"
        f"    ResponseError: {answer}\n"
        f"    {frame} {{\n      code: 'PLT_KFK_RESPONSE',\n      [errors]: [\n        ProtocolError: {printed.text}\n"
        f"        {frame} {{\n          code: 'PLT_KFK_PROTOCOL',\n          apiId: '{name}',\n"
        f"          apiCode: {printed.code},\n          canRetry: false\n        }}\n      ]\n    }}\n  ]\n}}\n",
    )
    inner = {"type": "ProtocolError", "message": printed.text, "code": "PLT_KFK_PROTOCOL", "apiId": name}
    outer = {
        "type": "ResponseError",
        "message": answer,
        "stack": f"ResponseError: {answer}",
        "aggregateErrors": [inner],
    }
    told = {"type": "MultipleErrors", "message": united, "stack": f"MultipleErrors: {united}\n{frame}"}
    record = {"level": 50, "time": 1718000001123, "err": told | {"aggregateErrors": [outer]}, "msg": "writing failed"}
    yield "pino", json.dumps(record) + "\n"
    yield (
        "string",
        f"Error PLT_KFK_MULTIPLE: {united} (caused by: Error PLT_KFK_RESPONSE: {answer} (caused by: Error "
        f"PLT_KFK_PROTOCOL: {printed.text}))\n",
    )


def _python(printed: Printed) -> Iterator[Page]:
    kind, _, rest = printed.form.partition(":")
    text = printed.text
    if kind == "log":
        level, _, logger = rest.partition(":")
        yield "basic", f"{level}:{logger}:{text}\n"
        yield "dated", f"2024-06-10 06:13:21,123 - {logger} - {level} - {text}\n"
        yield "short", f"2024-06-10 06:13:21,123 {level} {logger} {text}\n"
        yield (
            "json",
            json.dumps({"asctime": "2024-06-10 06:13:21,123", "name": logger, "levelname": level, "message": text})
            + "\n",
        )
        return
    if kind == "plain":
        yield "one line", f"{text}\n"
        yield "trace", f'Traceback (most recent call last):\n  File "/app/main.py", line 41, in run\n{text}\n'
        return
    library = "aiokafka" if printed.client == "aiokafka" else "kafka"
    name = rest or _name(printed.client, printed.code or 0)
    thrown = f"{library}.errors.{name}" + (f": {text}" if text else "")
    yield "thrown", f'Traceback (most recent call last):\n  File "/app/main.py", line 41, in run\n    run()\n{thrown}\n'
    yield "one line", f"{thrown}\n"
    yield "logged", f"2024-06-10 06:13:21,123 ERROR app transaction failed: {text or name}\n"
    yield (
        "repr",
        f"2024-06-10 06:13:21,123 ERROR app transaction failed: {name}({json.dumps(text) if rest and text else ''})\n",
    )
    structured = {
        "timestamp": "2024-06-10T06:13:21.123Z",
        "event": "transaction failed",
        "level": "error",
        "exc_type": f"{library}.errors.{name}",
        "error": text or f"{name}()",
    }
    yield "structlog", json.dumps(structured) + "\n"
