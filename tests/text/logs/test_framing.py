"""Lines of logs in their parts: every layout and wrapper with its samples, damage, times, forged lines."""

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.terms.events import Level
from kafkatx.text.logs.contexts import Context, split_context
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, STRUCTURED, Framer, continues
from kafkatx.text.logs.json_lines import read_record
from kafkatx.text.logs.layouts import LAYOUTS, heads
from kafkatx.text.logs.stamps import NO_STAMP, day_of_name, midnight_of, read_stamp
from kafkatx.text.logs.wrappers import WRAPPERS, unwrap
from tests.evidence import cases
from tests.text.logs.recorded import recorded_lines

ABORT = "Aborting incomplete transaction"
IDS = "[Producer clientId=producer-1, transactionalId=TEST-TID-1] "
LINE = f"2026-11-21 10:23:51.003 [main] INFO  org.apache.kafka.clients.producer.KafkaProducer - {IDS}{ABORT}"


def ms(*when: int) -> int:
    year, month, day, hour, minute, second, milli = (*when, *(0,) * (7 - len(when)))
    return round(datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()) * 1000 + milli


AT = ms(2026, 11, 21, 10, 23, 51, 3)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_every_layout_has_samples_that_fit_it_first(layout):
    assert layout.samples
    for before, message, behind in layout.samples:
        line = before + message + behind
        assert next(one.name for one in LAYOUTS if one.pattern.match(line)) == layout.name
        framed = Framer().frame(line)
        assert (framed.layout, framed.message) == (layout.name, message)


STAMPS = (
    "10:23:51", "2026-11-21 10:23:51,003", "2026-11-21T10:23:51.003Z", "2026-11-21 10:23:51 UTC", "Nov 21 10:23:51",
    "2026-11-21 3:42:22 PM", "Sat Nov 21 10:23:51 2026", "Nov 21 10:23:51 UTC 2026", "1795256939072",
    "26/11/21 10:23:51", "2026-11-21 10:23:51 +0800", "21/Nov/2026:10:23:51", "10:23:51 UTC PM",
    "2026-11-21 10:23:51 Z", "20231221 09:48:17",
)  # fmt: skip
AROUND = st.sampled_from(("", " ", "  ", "[", "]", "[ ", " ]", "] ", "\t"))
TAILS = st.sampled_from(LAYOUTS).flatmap(
    lambda layout: st.sampled_from(["".join(sample) for sample in layout.samples]).flatmap(
        lambda line: st.integers(0, len(line)).map(lambda at: line[at:])
    )
)


@given(st.tuples(AROUND, st.sampled_from(STAMPS), AROUND, AROUND, TAILS).map("".join))
def test_a_layout_reads_what_its_pattern_finds(line):
    begins = heads(line)
    for layout in LAYOUTS:
        found = layout.pattern.match(line)
        assert layout.read(line, begins) == (found.groupdict() if found else None)


def test_layouts_and_wrappers_read_recorded_lines_as_their_patterns_do():
    lines = recorded_lines()
    assert len(lines) > 1_000
    for line in lines:
        begins = heads(line)
        for layout in LAYOUTS:
            found = layout.pattern.match(line)
            assert layout.read(line, begins) == (found.groupdict() if found else None), line
        assert all(wrapper.sign in line for wrapper in WRAPPERS if wrapper.pattern.match(line)), line


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda wrapper: wrapper.name)
def test_every_wrapper_has_samples_that_it_is_taken_off_from(wrapper):
    assert wrapper.samples
    for line, inside in wrapper.samples:
        unwrapped = unwrap(line)
        assert unwrapped.text == inside
        assert line[unwrapped.start :] == inside


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-21 10:23:51,003", AT),
        ("2026-11-21T10:23:51.003Z", AT),
        ("2026-11-21T18:23:51.003+08:00", AT),
        ("2026-11-21T05:53:51.003-0430", AT),
        ("2026-11-21 10:23:51.003 UTC", AT),
        ("2026/11/21 10:23:51.003", AT),
        ("20261121 10:23:51,003", AT),
        ("21 Nov 2026 10:23:51,003", AT),
        ("21/Nov/2026:10:23:51.003", AT),
        ("Nov 21, 2026 10:23:51 AM", AT - 3),
        ("Nov 21, 2026 10:23:51 PM", AT - 3 + 12 * 3_600_000),
        ("Nov 21, 2026 12:00:00 AM", ms(2026, 11, 21)),
        ("1795256631003", AT),
        ("1795256631.003", AT),
        ("2026-11-21T10:23:51.003123456Z", AT),
    ],
)
def test_stamps_of_every_style_tell_the_same_time(text, at):
    assert read_stamp(text).at == at


@pytest.mark.parametrize(
    "text", ["2026-02-30 10:23:51,003", "2026-13-01 10:23:51,003", "2026-11-21 10:61:51,003", "2026-11-21 10:23:61,003"]
)
def test_a_time_that_no_calendar_has_is_no_time(text):
    assert read_stamp(text).at == -1
    assert Framer().frame(f"{text} INFO a.b.C - hello").at == -1


def test_whether_a_zone_is_printed_is_known():
    assert [read_stamp(text).is_zoned for text in ("2026-11-21 10:23:51,003", "2026-11-21T10:23:51Z")] == [False, True]
    assert read_stamp("soon") == NO_STAMP
    assert midnight_of(2026, 2, 29) is None


def test_every_line_of_recorded_client_logs_has_its_time_level_and_message():
    """A second, independent look by one regular expression over lines of known shape."""
    shape = re.compile(
        r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) (?:\[(?P<thread>[^]]*)\] )?\[?"
        r"(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|WARNING)\]? +(?P<rest>.*)"
    )
    seen = 0
    for path in (path for case in cases() for path in sorted(case.glob("logs/client-*"))):
        lines = path.read_text("utf-8", "replace").split("\n")
        framer = Framer(lines[:100])
        for line in lines:
            framed, found = framer.frame(line), shape.fullmatch(line)
            if not found:
                assert not framed.layout or framed.layout in (MESSAGE_ONLY, "librdkafka", "level"), line
                continue
            seen += 1
            at = round(datetime.fromisoformat(found["time"] + "+00:00").timestamp() * 1000)
            level = Level.warn if found["level"] == "WARNING" else Level[found["level"].lower()]
            assert (framed.at, framed.level, framed.thread) == (at, level, found["thread"] or ""), line
            assert found["rest"].rstrip().endswith(framed.message), line
            assert framed.message or found["rest"].rstrip()[-1:] in "-]", line
    assert seen > 50


def test_brackets_name_client_id_and_group():
    cases = {
        IDS: Context("Producer", "producer-1", "TEST-TID-1"),
        "[TransactionalId billing-eu-7] ": Context("Producer", "", "billing-eu-7"),
        "[Consumer clientId=c-1, groupId=g, x] ": Context("Consumer", "c-1", "", "g, x"),
        "[Consumer instanceId=i-1, clientId=c-1, groupId=g] ": Context("Consumer", "c-1", "", "g", "i-1"),
        "[AdminClient clientId=adminclient-1] ": Context("AdminClient", "adminclient-1"),
        "[Producer clientId=old->new|mirror-0|offset-syncs-source-producer] ": Context(
            "Producer", "old->new|mirror-0|offset-syncs-source-producer"
        ),
        "[orders#producer-1] [thrd:main]: ": Context("Producer", "orders#producer-1"),
        "[orders|task-0] [Producer clientId=a] ": Context("Producer", "a"),
        "[TransactionCoordinator id=2] ": Context("TransactionCoordinator", broker_id=2),
        "[Transaction State Manager 3]: ": Context("Transaction", broker_id=3),
        "[Controller id=0, targetBrokerId=1] ": Context("Controller", broker_id=0),
    }
    for bracket, expected in cases.items():
        context, rest = split_context(bracket + ABORT)
        assert rest == ABORT, bracket
        known = (context.role, context.client_id, context.transactional_id, context.group, context.instance_id)
        wanted = (expected.role, expected.client_id, expected.transactional_id, expected.group, expected.instance_id)
        assert (*known, context.broker_id) == (*wanted, expected.broker_id), bracket


@pytest.mark.parametrize(
    ("damaged", "client", "transactional_id"),
    [
        ("[cducer clientId=producer-1, transactionalId=TEST-TID-1] ", "producer-1", "TEST-TID-1"),
        ("cducer clientId=producer-1, transactionalId=TEST-TID-1] ", "producer-1", "TEST-TID-1"),
        ("ntId=producer-1, transactionalId=TEST-TID-1] ", "producer-1", "TEST-TID-1"),
        ("=producer-1, transactionalId=TEST-TID-1] ", "", "TEST-TID-1"),
        ("actionalId=TEST-TID-1] ", "", "TEST-TID-1"),
    ],
)
def test_a_bracket_without_its_front_gives_what_is_left(damaged, client, transactional_id):
    framed = Framer([LINE]).frame(damaged + ABORT)
    assert (framed.context.client_id, framed.context.transactional_id) == (client, transactional_id)
    assert framed.context.is_damaged
    assert (framed.message, framed.layout, framed.at) == (ABORT, REMNANT, -1)


def test_a_line_may_be_cut_anywhere_and_never_says_something_else():
    framer = Framer([LINE])
    for cut in range(len(LINE)):
        framed = framer.frame(LINE[cut:])
        assert framed.at in (AT, -1)
        assert framed.context.client_id in ("producer-1", "")
        assert framed.context.transactional_id in ("TEST-TID-1", "")
        assert framed.level in (Level.info, Level.unknown)
        if cut <= LINE.index("lId=TEST-TID-1") and LINE[cut] != " ":
            assert framed.message == ABORT, LINE[cut:]
    for end in range(len(LINE)):
        framed = framer.frame(LINE[:end])
        assert framed.message == ABORT[: len(framed.message)] or not framed.context.transactional_id


def test_the_client_is_also_known_by_its_network_thread():
    line = "2026-11-21 10:23:51.003 [kafka-producer-network-thread | p-7] ERROR com.example.Orders - failed"
    assert Framer([line]).frame(line).context.client_id == "p-7"


def test_a_message_may_stand_on_the_line_after_the_loggers_name():
    head = "2024-04-03T18:21:00.063+08:00  INFO 1 --- [worker-1] o.a.k.clients.producer.KafkaProducer     :"
    framer = Framer([head, LINE])
    framed = framer.frame(IDS + ABORT, head)
    assert (framed.at, framed.is_zoned) == (ms(2024, 4, 3, 10, 21, 0, 63), True)
    assert (framed.thread, framed.message, framed.level) == ("worker-1", ABORT, Level.info)
    assert framed.context.transactional_id == "TEST-TID-1"
    assert framer.frame(IDS + ABORT, LINE).at == -1
    for before in (f"{head}\n{IDS}", f"hello\n{head} {IDS}"):
        again = framer.frame(ABORT, before)
        assert (again.at, again.message, again.context.transactional_id) == (framed.at, ABORT, "TEST-TID-1"), before


def test_times_without_a_date_take_it_from_lines_before_and_pass_midnight():
    framer = Framer()
    clock = "{} [main] INFO a.b.C - hello"
    assert (framer.frame(clock.format("23:59:59.000")).at, framer.frame(clock.format("23:59:59.000")).of_day) == (
        -1,
        86_399_000,
    )
    framer.frame("2023-02-08 15:42:22,815 [main] INFO a.b.C - hello")
    assert framer.frame(clock.format("15:42:52.967")).at == ms(2023, 2, 8, 15, 42, 52, 967)
    assert framer.frame(clock.format("23:59:59.000")).at == ms(2023, 2, 8, 23, 59, 59)
    assert framer.frame(clock.format("00:00:01.000")).at == ms(2023, 2, 9, 0, 0, 1)
    assert framer.frame("Feb  9 15:42:18 INFO hello").at == ms(2023, 2, 9, 15, 42, 18)


@pytest.mark.parametrize("zone", [-10, -5, 0, 5, 8, 13])
def test_a_client_that_prints_its_start_in_milliseconds_tells_the_day(zone):
    for hour in (0, 3, 11, 23):
        start = ms(2023, 2, 8, hour, 30, 0, 100)
        local = start + zone * 3_600_000 + 7
        clock = datetime.fromtimestamp(local / 1000, UTC).strftime("%H:%M:%S.") + f"{local % 1000:03d}"
        line = f"{clock} [main] INFO o.a.k.c.u.AppInfoParser - Kafka startTimeMs: {start}"
        assert Framer([line]).frame(line).at == local, (hour, zone)


def test_the_name_of_a_file_may_tell_the_day_and_reading_again_starts_with_it():
    assert day_of_name("logs/app-2023-02-08.log") == day_of_name("logs/app.20230208.log") == ms(2023, 2, 8)
    assert day_of_name("logs/2023-02-08/app-20230299-123456789.log") is None
    framer = Framer(midnight=ms(2023, 2, 8))
    for _ in range(2):
        framer.restart()
        assert framer.frame("01:00:00.000 [main] INFO a.b.C - hello").at == ms(2023, 2, 8, 1)
        assert framer.frame("20:00:00.000 [main] INFO a.b.C - hello").at == ms(2023, 2, 8, 20)


def test_a_wrapper_in_utc_tells_the_zone_of_the_time_inside():
    inner = LINE.replace("10:23:51.003", "18:23:50.951")
    docker = json.dumps({"log": inner + "\n", "stream": "stdout", "time": "2026-11-21T10:23:51.003123Z"})
    for line in (docker, f"2026-11-21T10:23:51.003123456Z stdout F {inner}", f"2026-11-21T10:23:51.003123456Z {inner}"):
        framed = Framer([line]).frame(line)
        assert (framed.at, framed.is_zoned, framed.message) == (AT - 52, True, ABORT)
    without_date = inner.removeprefix("2026-11-21 ")
    framed = Framer().frame(f"2026-11-21T10:23:51.003123456Z stdout F {without_date}")
    assert (framed.at, framed.is_zoned) == (AT - 52, True)


def test_prefixes_of_tools_and_colours_are_taken_off():
    coloured = LINE.replace("INFO", "\x1b[32mINFO\x1b[0;39m").replace("[main]", "[\x1b[1;31mmain\x1b[m]")
    for line in (coloured, f"app-1  | {LINE}", f"Nov 21 10:23:52 host app[123]: {LINE}", f"logs/app.log:17:{LINE}"):
        framed = Framer([line]).frame(line)
        assert (framed.message, framed.level, framed.thread) == (ABORT, Level.info, "main"), line
        assert framed.at == AT
    assert Framer().frame(f"orders-1  | {LINE}").writer == "orders-1"


JSON = {
    "logstash": {"@timestamp": "2026-11-21T10:23:51.003Z", "level": "INFO", "logger_name": "a.b.C", "thread_name": "t",
                 "message": IDS + ABORT},
    "log4j2": {"instant": {"epochSecond": AT // 1000, "nanoOfSecond": 3_000_000}, "level": "INFO",
               "loggerName": "a.b.C", "thread": "t", "message": IDS + ABORT},
    "ecs": {"@timestamp": "2026-11-21T10:23:51.003Z", "log": {"level": "INFO", "logger": "a.b.C"},
            "process": {"thread": {"name": "t"}}, "message": IDS + ABORT},
    "ecs, dotted": {"@timestamp": "2026-11-21T10:23:51.003Z", "log.level": "info", "log.logger": "a.b.C",
                    "process.thread.name": "t", "message": IDS + ABORT},
    "gcp": {"timestamp": "2026-11-21T10:23:51.003Z", "severity": "INFO", "logger": "a.b.C", "thread": "t",
            "jsonPayload": {"message": IDS + ABORT}},
    "milliseconds": {"timeMillis": AT, "level": "INFO", "loggerName": "a.b.C", "thread": "t", "message": IDS + ABORT},
}  # fmt: skip


@pytest.mark.parametrize("record", JSON.values(), ids=JSON.keys())
def test_json_lines_of_every_maker_are_read(record):
    framed = Framer().frame(json.dumps(record))
    assert (framed.at, framed.is_zoned, framed.level) == (AT, True, Level.info)
    assert (framed.thread, framed.logger, framed.message) == ("t", "a.b.C", ABORT)
    assert (framed.layout, framed.context.transactional_id) == (STRUCTURED, "TEST-TID-1")


def test_pairs_of_go_loggers_are_read_as_franz_go_says_it_itself():
    for line in (
        'time="2026-11-21T10:23:51.003Z" level=info msg="producer id initialization success" id=9 epoch=0',
        '{"ts":1795256631.003,"level":"info","msg":"producer id initialization success","id":9,"epoch":0}',
    ):
        framed = Framer().frame(line)
        assert framed.message == "producer id initialization success; id: 9, epoch: 0"
        assert (framed.at, framed.level) == (AT, Level.info)


def test_a_forged_line_inside_a_json_string_stays_part_of_its_message():
    forged = LINE.replace(ABORT, "ProducerId set to 66 with epoch 6")
    framed = Framer().frame(json.dumps({"@timestamp": "2026-11-21T10:23:51.003Z", "message": f"payload:\n{forged}"}))
    assert framed.message == "payload:"
    assert not framed.context.transactional_id
    assert framed.trace == forged


def test_indented_lines_belong_to_the_line_above_whatever_they_say():
    framer = Framer([LINE, LINE])
    for line in (
        f"\t{LINE}",
        f"    {LINE}",
        "\tat a.b.C.d(C.java:1)",
        "Caused by: a.b.C: no",
        "... 3 more",
        "",
        "\tacks = all",
    ):
        assert framer.frame(line).layout == "", line
        assert framer.continues(line)
    assert not framer.continues(LINE)
    assert not continues("plain words of an application")


def test_a_log_that_was_pasted_indented_is_read_without_its_indentation():
    indented = [f"    {LINE}", "    java.lang.IllegalStateException: no", "    \tat a.b.C.d(C.java:1)"]
    framer = Framer(indented)
    assert framer.frame(indented[0]).message == ABORT
    assert [framer.continues(line) for line in indented] == [False, True, True]


def test_a_layout_that_a_file_has_once_is_found_though_another_is_the_files_own():
    python = "2026-11-21 11:51:31.242 INFO aiokafka.producer.sender Discovered coordinator 1 for transactional id a"
    broker = "[2026-11-21 10:23:51,003] INFO [TransactionCoordinator id=1] Startup complete. (kafka.coordinator.T)"
    framer = Framer([broker] * 50)
    assert framer.frame(LINE).message == ABORT
    assert framer.frame(broker).logger == "kafka.coordinator.T"
    assert Framer([python, "2026-11-21 11:51:32.496 ERROR ledger flush failed"] * 20).frame(python).logger == (
        "aiokafka.producer.sender"
    )


@pytest.mark.parametrize(
    "text",
    ["[" * (1 << 20), "a." * (1 << 19), "Id=" * (1 << 18) + "] ", "12:" * (1 << 18), "\x1b[" * (1 << 19),
     "\x1b]" + "x" * (1 << 20), '{"a":' * (1 << 17) + "}", "msg=" + "a=b " * (1 << 18), "{" * (1 << 20) + "}",
     "2026-11-21 10:23:51.003 [main] INFO " + "a" * (1 << 20), "INFO " * (1 << 18), "app-1  | " * (1 << 17),
     "2026-11-21 10:23:51.003 " * (1 << 15), "%7|" + "1" * (1 << 20), " " * (1 << 20) + "x", "\udcff\x00" * 1000],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_hostile_lines_are_framed_in_one_pass(text):
    framed = Framer([text]).frame(text)
    assert framed.context.transactional_id == ""


def test_a_logger_in_brackets_at_the_end_is_no_part_of_the_message():
    framed = Framer().frame(f"2026-11-21 10:23:51,003 INFO   {IDS}{ABORT}   [org.apache.kafka.clients.NetworkClient]")
    assert (framed.message, framed.logger) == (ABORT, "org.apache.kafka.clients.NetworkClient")
    assert Framer().frame(f"2026-11-21 10:23:51,003 INFO {IDS}{ABORT} [1]").message == f"{ABORT} [1]"


CUT_OBJECT = (
    '{"@timestamp":"2026-11-21T10:23:51.003Z","@version":"1","message":"Sending to {} failed","tags":["a","b\\\\"],'
    '"mdc":{"order":"4711"},"level":"ERROR","stack_trace":"java.lang.IllegalStateException: late \\u00e9\\n\\tat '
    'org.apache.kafka.clients.producer.KafkaProducer.send(KafkaProducer.java:886)","host":{"name":"a","ids":[1,2]}}'
)


@pytest.mark.parametrize("end", range(CUT_OBJECT.index('"mdc"'), len(CUT_OBJECT) + 1))
def test_a_json_line_that_is_cut_off_anywhere_tells_what_is_left(end):
    whole, cut = read_record(CUT_OBJECT), read_record(CUT_OBJECT[:end])
    assert cut is not None
    assert (cut.stamp, cut.message) == (whole.stamp, whole.message)
    assert whole.trace.startswith(cut.trace)
    assert whole.level.startswith(cut.level)


@pytest.mark.parametrize(
    "line",
    ['{"took": 5, "hits": {', '{"a":1} and then some words that follow behind it', '{"message":"x"',
     '{"a" some words, "level": "ERROR", "message": "x", of nobody', '{"level":"ERROR","message":"x",',
     '{not JSON at all, but words of somebody in braces', '{"message":"a long one, of nobody and of no time'],
)  # fmt: skip
def test_what_only_begins_like_json_is_none(line):
    assert read_record(line) is None
