"""Long dumps read by runs tell what they tell line by line, whatever became of their lines."""

import json
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.engine import forced
from kafkatx.outputs.dump import Dump
from kafkatx.outputs.dump_options import DumpOptions
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.dump import state_runs
from kafkatx.text.dump.batches import batch_chunks
from kafkatx.text.dump.states import state_chunks
from kafkatx.text.pages import growing, incidents
from kafkatx.text.pages.part import PartKind
from kafkatx.text.pages.parts import parts
from kafkatx.text.printed import runs
from tests.building import BOTH_ENGINES
from tests.dump_text.make import batch
from tests.dump_text.texts import recorded

SHALLOW, DEEP, WHOLE = DumpOptions(deep=False, data=False), DumpOptions(data=False), DumpOptions()
TEXTS = sorted(recorded(".log"), key=str)


def told(path, *, by_runs, monkeypatch, facts):
    """The parts of a text, and of each dumped log its batches with all that is said of them; how many came by runs.

    With the parts come the facts of their lines that were compared, `facts` of a stretch at most.
    """
    passed, compared = [], []

    place_of = incidents.Incidents.place

    def placed(known, place, facts):
        compared.append((place, [*facts.items()]))
        return place_of(known, place, facts)

    class Counted(runs.Runs):
        def at(self, *where):
            for run in super().at(*where):
                passed.append(len(run.rows))
                yield run

    with monkeypatch.context() as patched:
        patched.setattr(runs, "SHORT", 0)
        patched.setattr(runs, "are_worth_it", lambda size: by_runs)
        patched.setattr(runs, "FEWEST", 1)
        patched.setattr(state_runs, "FEWEST", 1)
        patched.setattr(runs, "PIECE", 3000)
        patched.setattr(runs, "Runs", Counted)
        patched.setattr(growing, "MOST_FACTS_OF_ONE", facts)
        patched.setattr(incidents.Incidents, "place", placed)
        with OpenFile(str(path)) as file:
            found = parts(file)
            logs = [logged(file, part) for part in found if part.kind is PartKind.DUMP_LOG]
    return (found, compared, logs), sum(passed)


def logged(file, part):
    found = told_of(batch_chunks(file, part))
    if part.topic != "__transaction_state":
        return found
    names = Names()
    batches, states = zip(*state_chunks(file, part, names), strict=True)
    known = (names.transactional_ids.values, names.topic_partitions, names.partition_lists)
    return found, told_of(batches), told_of(states), known


def told_of(chunks):
    chunks = list(chunks)
    columns = {
        name: np.concatenate([getattr(chunk, name) for chunk in chunks]).tolist()
        for name in ("rows", "lines", "positions", "known")
    }
    for name in ("damage", "left_out"):
        columns[name] = [one for chunk in chunks for one in getattr(chunk, name)]
    return columns | {name: any(getattr(chunk, name) for chunk in chunks) for name in ("is_elided", "is_assumed")}


def assert_equal(path, monkeypatch, facts=4096):
    """Both ways tell the same; returns how many batches came by runs."""
    careful, _ = told(path, by_runs=False, monkeypatch=monkeypatch, facts=facts)
    fast, passed = told(path, by_runs=True, monkeypatch=monkeypatch, facts=facts)
    assert fast == careful
    return passed


@pytest.mark.parametrize("part", range(8))
def test_recorded_texts_of_every_release(part, monkeypatch):
    with forced("compiled"):
        passed = [assert_equal(text.text_file, monkeypatch) for text in TEXTS[part::8]]
    assert sum(passed) > 20


def of_release(text, release):
    """A dump as an older tool printed it; of those before 2.2 shallow ones."""
    if release != "4.3":
        text = re.sub(r" deleteHorizonMs: OptionalLong(?:\.empty|\[\d+\])", "", text)
    if release == "2.8":
        return re.sub(r"(?m)^baseOffset: .*\n(?:\| offset: .*\n)*", of_28, text)
    if release != "4.3":
        text = text.replace(" keySize: ", " keysize: ").replace(" valueSize: ", " valuesize: ")
    if release in ("2.0", "0.11"):
        text = re.sub(r"( size: .*) (isvalid: \w+)$", r" \2\1", text, flags=re.MULTILINE)
    if release == "0.11":
        text = re.sub(r" (?:count|isControl): \w+", "", text)
    return text


def of_28(batch):
    """A batch with its records as 2.8 prints them: they say once more what their batch says."""
    head, *records = batch[0].splitlines(keepends=True)
    told = dict(re.findall(r"(\w+): (\S+)", head))
    names = ("baseOffset", "lastOffset", "baseSequence", "lastSequence", "producerEpoch", "partitionLeaderEpoch")
    again = " ".join(f"{name}: {told[name]}" for name in names)
    again += f" batchSize: {told['size']} magic: 2 compressType: {told['compresscodec'].upper()}"
    line = re.compile(r"(\| offset: \d+) (\w+: -?\d+) (keySize: \S+ valueSize: \S+) (sequence: .*)", re.DOTALL)
    order = rf"\1 isValid: true crc: null \3 \2 {again} position: {told['position']} \4"
    return head + "".join(line.sub(order, record) for record in records)


@st.composite
def dump(draw, folder):
    """What a tool printed of some log."""
    data, offset = b"", draw(st.sampled_from([0, 0, 7]))
    dice = random.Random(draw(st.integers(0, 1 << 32)))
    contents = draw(st.booleans())
    for _ in range(draw(st.integers(8, 24))):
        attributes = dice.choice([0, 0, 0x10, 0x10, 0x18, 0x30, 0x40, 0x50])
        if attributes & 0x20:
            kind = dice.choice([b"\0\0", b"\0\1"])
            records = [{"key": b"\0\0" + kind, "value": b"\0\0" + dice.randrange(1 << 16).to_bytes(4, "big")}]
        else:
            texts = [
                None,
                b"a",
                b"plain text",
                b"x > y",
                "schl\xfcssel".encode(),
                b"two\nlines",
                b"] payload: x",
                b"<b>",
            ]
            weights = [3, 9, 9, 9, contents, contents, contents, contents]
            records = [
                dict(zip(("key", "value"), dice.choices(texts, weights, k=2), strict=True))
                for _ in range(dice.randrange(4))
            ]
        last = max(len(records) - 1, 0) + (dice.random() < 0.1)
        data += batch(
            offset, records, attributes=attributes, last_offset_delta=last, producer_id=dice.choice([-1, 7, 9]),
            producer_epoch=dice.choice([0, 3]), base_sequence=dice.choice([-1, 0, 55]),
            base_timestamp=dice.choice([-1, 10**12]),
        )  # fmt: skip
        offset += last + 1 + (dice.random() < 0.1)
    log = folder / "orders-0" / "00000000000000000000.log"
    log.parent.mkdir(exist_ok=True)
    log.write_bytes(data)
    options = draw(st.sampled_from([SHALLOW, DEEP, WHOLE]))
    releases = ["4.3", "4.3", "2.8", "2.2", *["2.0", "0.11"] * (options is SHALLOW)]
    return of_release(printed(log, options), draw(st.sampled_from(releases)))


PLAIN, STRANGE = ("orders", "a-b", "x.y_z"), ('quo"te', "\u00fc", "a, b-1", "c)")


def state_value(dice, names=PLAIN + STRANGE):
    """A value of `__transaction_state` as coordinators write them."""
    version = dice.randrange(2)
    chosen = dice.choices(names, [1 if name in STRANGE else 9 for name in names], k=dice.randrange(3))
    topics = [(name.encode(), dice.sample(range(9), dice.randrange(4))) for name in chosen]
    value = {
        "producerId": dice.randrange(9000), "previousProducerId": dice.choice([-1, 5]),
        "nextProducerId": dice.choice([-1, 6]), "producerEpoch": dice.randrange(9),
        "nextProducerEpoch": dice.choice([-1, 7]),
        "transactionTimeoutMs": 60000, "transactionStatus": dice.randrange(7),
        "transactionPartitions": dice.choice([None, topics]), "updated": 10**12, "started": dice.choice([-1, 10**12]),
        "clientTransactionVersion": dice.randrange(3),
    }  # fmt: skip
    return written_state(value, version)


def written_state(value, version):
    """The bytes of such a value."""

    def size(number, width):
        return bytes([number + 1]) if version else number.to_bytes(width, "big", signed=True)

    def big(name, width):
        return value[name].to_bytes(width, "big", signed=True)

    topics, listed = value["transactionPartitions"], size(-1, 4)
    if topics is not None:
        listed = size(len(topics), 4) + b"".join(
            size(len(name), 2)
            + name
            + size(len(ids), 4)
            + b"".join(one.to_bytes(4, "big") for one in ids)
            + bytes(version)
            for name, ids in topics
        )
    head = version.to_bytes(2, "big") + big("producerId", 8) + big("producerEpoch", 2) + big("transactionTimeoutMs", 4)
    fields = head + big("transactionStatus", 1) + listed + big("updated", 8) + big("started", 8)
    tags = (("previousProducerId", 8), ("nextProducerId", 8), ("clientTransactionVersion", 2), ("nextProducerEpoch", 2))
    tagged = b"".join(bytes([tag, width]) + big(name, width) for tag, (name, width) in enumerate(tags))
    return fields + (bytes([len(tags)]) + tagged if version else b"")


def printed(log, options):
    """What the tool prints of a log; as plain Python, lest a compiler make the input slow."""
    with forced("interpreted"):
        return "".join(Dump(options, False, lambda _: None).pieces([str(log)]))


@st.composite
def state_dump(draw, folder):
    """What a tool printed of a log of `__transaction_state`."""
    data, dice = b"", random.Random(draw(st.integers(0, 1 << 32)))
    weights = [9, 9, 9, 1, draw(st.booleans()), 0.2]
    for offset in range(0, 3 * draw(st.integers(8, 24)), 3):
        ids = dice.choices([b"app-1", b"app 2", b"x" * 40, b"", b'q"', b"a\nb"], weights, k=3)
        keys = [b"\0\0" + len(one).to_bytes(2, "big") + one for one in ids]
        values = [None if dice.random() < 0.1 else state_value(dice) for _ in ids]
        data += batch(offset, [{"key": key, "value": value} for key, value in zip(keys, values, strict=True)])
    log = folder / "__transaction_state-0" / "00000000000000000000.log"
    log.parent.mkdir(exist_ok=True)
    log.write_bytes(data)
    return of_older_decoder(printed(log, WHOLE), draw(st.sampled_from([None, *OLDER])))


OLDER = {
    "4.0": ("transaction_metadata::", "[", ",", "]"),
    "2.4.1": ("transaction_metadata::", "HashSet(", ", ", ")"),
    "2.2": ("", "Set(", ", ", ")"),
}
"""The title of a key and how a set is printed, by release."""


def of_older_decoder(text, release):
    """A dump with the states as an older decoder prints them, None as they are."""
    if release is None:
        return text
    title, opening, comma, closing = OLDER[release]

    def older(found):
        key, end = json.JSONDecoder().raw_decode(found[1])
        shown = found[1][end:].removeprefix(" payload: ")
        if shown != "<DELETE>":
            value = json.loads(shown)["data"]
            listed = value["transactionPartitions"] or ()
            pairs = comma.join(f"{topic['topic']}-{number}" for topic in listed for number in topic["partitionIds"])
            shown = (
                f"producerId:{value['producerId']},producerEpoch:{value['producerEpoch']},"
                f"state={TransactionState(value['transactionStatus']).name},partitions={opening}{pairs}{closing},"
                f"txnLastUpdateTimestamp={value['transactionLastUpdateTimestampMs']},"
                f"txnTimeoutMs={value['transactionTimeoutMs']}"
            )
        return f" key: {title}transactionalId={key['data']['transactionalId']} payload: {shown}"

    old = re.sub(r' key: (\{"type":"0".*)', older, text)
    return old if release == "4.0" else of_release(old, "2.2")


@st.composite
def mutated(draw, text):
    """A text after careless hands."""
    lines = text.split("\n")
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        cut = draw(st.integers(0, len(line)))
        match draw(
            st.sampled_from(["drop", "twice", "cut", "wrap", "digit", "prose", "swap", "elide", "head", "blank"])
        ):
            case "drop":
                del lines[at]
            case "twice":
                lines.insert(at, line)
            case "cut":
                lines[at] = line[:cut]
            case "wrap":
                lines[at : at + 1] = [line[:cut], line[cut:]]
            case "digit":
                lines[at] = re.sub(r"\d", draw(st.sampled_from("0189")), line, count=draw(st.integers(1, 4)))
            case "prose":
                lines.insert(
                    at,
                    draw(st.sampled_from(["and then", "...", "[snip]", "Found 3 invalid bytes at the end of x.log"])),
                )
            case "swap":
                lines[at], lines[at // 2] = lines[at // 2], line
            case "elide":
                lines[at] = re.sub(r" (?:lastSequence|position|isControl): \S+", " ...", line)
            case "head":
                del lines[: at // 2]
            case "blank":
                lines[at] = f" {line}"
        if not lines:
            break
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    prefix = draw(st.sampled_from(["", "", "", "> "]))
    return end.join(f"{prefix}{line}" for line in lines)


@BOTH_ENGINES
@given(st.data())
def test_any_dump_after_careless_hands(engine, monkeypatch, tmp_path, data):
    text = data.draw(mutated(data.draw(st.one_of(dump(tmp_path), state_dump(tmp_path)))))
    path = tmp_path / "pasted.txt"
    path.write_bytes(text.encode())
    assert_equal(path, monkeypatch, facts=data.draw(st.sampled_from([3, 10, 4096])))


def test_nearly_all_of_a_long_dump_comes_by_runs(monkeypatch, tmp_path, engine):
    log = tmp_path / "orders-0" / "00000000000000000000.log"
    log.parent.mkdir()
    log.write_bytes(b"".join(batch(2 * n, [{"value": b"a"}, {"value": b"b"}], producer_id=5) for n in range(400)))
    shapes = [(options, release) for options in (SHALLOW, DEEP, WHOLE) for release in ("4.3", "2.8", "2.2")]
    for options, release in [*shapes, (SHALLOW, "2.0"), (SHALLOW, "0.11")]:
        path = tmp_path / "dump.txt"
        path.write_text(of_release("".join(Dump(options, False, print).pieces([str(log)])), release))
        assert assert_equal(path, monkeypatch) > 2 * 380


@pytest.mark.parametrize("release", [None, *OLDER])
def test_states_of_every_decoder_come_by_runs(release, monkeypatch, tmp_path, engine):
    dice, data = random.Random(4), b""
    for offset in range(300):
        transactional_id = dice.choice([b"app-1", b"app 2", b"x" * 40])
        key, value = b"\0\0" + len(transactional_id).to_bytes(2, "big") + transactional_id, state_value(dice, PLAIN)
        data += batch(offset, [{"key": key, "value": value}])
    log = tmp_path / "__transaction_state-0" / "00000000000000000000.log"
    log.parent.mkdir()
    log.write_bytes(data)
    path = tmp_path / "dump.txt"
    path.write_text(of_older_decoder(printed(log, WHOLE), release))
    assert assert_equal(path, monkeypatch) > 3 * 290


def test_a_kernel_is_loaded_for_a_long_dump_and_for_no_other(monkeypatch, tmp_path):
    log = tmp_path / "orders-0" / "00000000000000000000.log"
    log.parent.mkdir()
    log.write_bytes(b"".join(batch(2 * n, [{"value": b"a"}, {"value": b"b"}], producer_id=5) for n in range(1500)))
    dump, talk, asked = printed(log, SHALLOW), "[2026-01-01 10:00:00,000] INFO all is well (kafka.server)\n", []
    monkeypatch.setattr(runs, "are_worth_it", asked.append)
    path = tmp_path / "long.txt"
    for text in (dump, talk * 20_000 + dump + talk * 20_000):
        path.write_text(text)
        with OpenFile(str(path)) as file:
            parts(file)
    assert len(dump) // 2 <= max(asked) <= len(dump) + runs.GLANCE


BREAKS = {
    "a batch is gone": lambda block: "",
    "a batch stands there twice": lambda block: block + block,
    "the line of a batch is gone": lambda block: block.partition("\n")[2],
    "its last line is gone": lambda block: block[: block[:-1].rfind("\n") + 1],
    "another position": lambda block: re.sub(r" position: \d", " position: 9", block),
    "another size": lambda block: block.replace(" size: ", " size: 1"),
    "another count": lambda block: block.replace(" count: 2", " count: 3"),
    "offsets that were there": lambda block: re.sub(r"ffset: \d+", "ffset: 3", block),
    "a record beyond its batch": lambda block: block.replace("| offset: 41", "| offset: 71"),
    "an offset twice": lambda block: block.replace("| offset: 41", "| offset: 40"),
    "a record of no size": lambda block: block.replace("valueSize: 1", "valueSize: -1"),
    "a wrong CRC": lambda block: block.replace("isvalid: true", "isvalid: false"),
    "a number that is too large": lambda block: block.replace(" crc: ", " crc: 99999"),
    "a control batch": lambda block: block.replace(" isControl: false", " isControl: true"),
    "a field is left out": lambda block: re.sub(r" lastSequence: \S+", " ...", block),
    "another shape": lambda block: block.replace(" deleteHorizonMs: OptionalLong.empty", ""),
    "a line broken in two": lambda block: block.replace(" magic: 2", "\n magic: 2"),
    "prose": lambda block: f"and then\n{block}",
    "another file": lambda block: f"Dumping /data/other-1/00000000000000000000.log\n{block}",
}


@pytest.mark.parametrize("options", [SHALLOW, DEEP, WHOLE], ids=["shallow", "deep", "whole"])
@pytest.mark.parametrize("name", BREAKS)
def test_what_breaks_a_run_is_told_as_line_by_line(name, options, monkeypatch, tmp_path):
    log = tmp_path / "orders-0" / "00000000000000000000.log"
    log.parent.mkdir()
    log.write_bytes(b"".join(batch(2 * n, [{"value": b"a"}, {"value": b"b"}], producer_id=5) for n in range(30)))
    with forced("interpreted"):
        begin, *blocks = re.split(r"(?m)^(?=baseOffset)", printed(log, options))
        blocks[20] = BREAKS[name](blocks[20])
        path = tmp_path / "dump.txt"
        path.write_text(begin + "".join(blocks))
        assert assert_equal(path, monkeypatch) > 20
