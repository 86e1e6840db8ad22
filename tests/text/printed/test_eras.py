"""The shapes of lines are those that releases print, and what each text carries is what formats and captures say."""

import re
from pathlib import Path

import pytest

from kafkatx.text.dump.rows import BATCH_COLUMNS, STATE_COLUMNS
from kafkatx.text.printed.dump_lines import Syntax
from kafkatx.text.printed.eras import SHAPES, DumpLineShape, LineKind
from tests.dump_text.texts import made, recorded
from tests.evidence import ROOT
from tests.golden import compare
from tests.house.generate_docs import dump_text
from tests.text.dump.page import BATCHES, DEEP, FOLDER, SHALLOW, STATES, Era, lacking, rows_of

Version = tuple[int, ...]


def texts() -> list[tuple[Version, Path]]:
    """Release and file of every real text of a log."""
    found = [(text.version, text.text_file) for text in (*recorded(".log"), *made()) if text.file.suffix == ".log"]
    return found + [(number(path.parent.name), path) for path in FOLDER.glob("*/*.txt") if "console" not in path.name]


def number(release: str) -> Version:
    return tuple(map(int, release.split("."))) if release else (99,)


def prints(shape: DumpLineShape, version: Version) -> bool:
    until = number(shape.until)
    return number(shape.since) <= version and version[: len(until)] <= until


def matched(text: str) -> set[int]:
    """Shapes that lines of a text have, by their place among all."""
    found = set()
    for line in text.split("\n"):
        if line.startswith(("| offset: ", "baseOffset: ", "offset: ")):
            found |= {at for at, shape in enumerate(SHAPES) if shape.pattern.match(line)}
    return found


def test_every_shape_was_printed_by_a_release_that_prints_it():
    met = {
        at
        for version, path in texts()
        for at in matched(path.read_text(errors="replace"))
        if prints(SHAPES[at], version)
    }
    assert [SHAPES[at].fields for at in range(len(SHAPES)) if at not in met] == []


def test_no_release_prints_a_shape_of_another():
    for version, path in texts():
        for at in matched(path.read_text(errors="replace")):
            assert prints(SHAPES[at], version), (path, SHAPES[at])


def test_no_line_has_two_shapes():
    for _, path in texts():
        for line in path.read_text(errors="replace").split("\n"):
            assert sum(shape.pattern.match(line) is not None for shape in SHAPES) <= 1, line


@pytest.mark.parametrize(
    ("kind", "fields", "since", "until"),
    [
        (LineKind.BATCH, "count", "2.0", ""),
        (LineKind.BATCH, "isControl", "2.0", ""),
        (LineKind.BATCH, "deleteHorizonMs", "3.2", ""),
        (LineKind.RECORD, "keysize", "2.2", "2.7"),
        (LineKind.RECORD, "batchSize", "2.8", "2.8"),
        (LineKind.FLAT_RECORD, "producerEpoch", "0.11.0.2", "2.1"),
    ],
)
def test_a_field_is_printed_by_the_releases_that_the_reference_names(kind, fields, since, until):
    shapes = [shape for shape in SHAPES if shape.kind is kind and fields in shape.fields]
    assert min(number(shape.since) for shape in shapes) == number(since)
    assert max(number(shape.until) for shape in shapes) == number(until)


def test_isvalid_moved_to_the_end_in_2_2():
    for shape in SHAPES:
        if shape.kind in (LineKind.BATCH, LineKind.MESSAGE):
            assert (shape.fields[-1] == "isvalid") == (number(shape.since) >= (2, 2))


def never(era: Era) -> set[str]:
    return set(lacking(rows_of(era))[0])


ONLY_OF_HEADERS = {"size", "leader_epoch", "delete_horizon"}
FACTS = {
    "deep to 2.1": (DEEP, "2.1", {"crc", "base_timestamp", *ONLY_OF_HEADERS}),
    "deep, first releases": (DEEP, "0.11.0.1", {"crc", "base_timestamp", "producer_epoch", *ONLY_OF_HEADERS}),
    "shallow to 1.1": (SHALLOW, "1.1", {"base_timestamp", "record_count", "delete_horizon"}),
    "shallow 2.0": (SHALLOW, "2.1", {"base_timestamp", "delete_horizon"}),
    "deep 2.2 to 2.7": (DEEP, "2.7", {"base_timestamp", "delete_horizon"}),
    "deep 2.8": (DEEP, "2.8", {"base_timestamp", "delete_horizon"}),
    "deep since 3.2": (DEEP, "", set()),
}


@pytest.mark.parametrize("fact", FACTS)
def test_a_text_lacks_what_its_release_does_not_print(fact):
    options, until, columns = FACTS[fact]
    (era,) = [era for era in BATCHES if (era.options, era.until) == (options, until)]
    assert never(era) == columns
    assert columns <= set(BATCH_COLUMNS)


def test_the_kind_of_a_marker_stands_in_its_record_only():
    for era in BATCHES:
        rows = rows_of(era)
        markers = rows.rows["attributes"] & 0x30 == 0x30
        assert markers.any()
        assert rows.knows("is_control")[markers].all()
        assert rows.knows("control_type")[markers].all() == (era.options == DEEP)
        assert rows.knows("control_type")[markers].any() != (era.options == SHALLOW)


def test_states_of_old_texts_lack_what_only_json_says():
    tags = {"previous_producer_id", "next_producer_id", "next_producer_epoch", "client_transaction_version"}
    expected = [{"crc", "leader_epoch"}, set(), set(), None]
    for era, more in zip(STATES, expected, strict=True):
        wanted = {"unknown_tags_code"} if more is None else {"unknown_tags_code", "value_version", *tags, *more}
        assert never(era) == wanted
        assert wanted <= set(STATE_COLUMNS)


def test_every_line_of_a_release_is_recognised_whole():
    syntax = Syntax()
    for _, path in texts():
        for line in path.read_text(errors="replace").split("\n"):
            if re.match(r"baseOffset: |\| offset: |offset: \d+ position: \d+ \w+Time", line) and "forged" not in line:
                assert syntax.exact(line) is not None or "lastOffset: 9" in line, line


def test_the_page_is_in_step(request):
    update = request.config.getoption("--update-golden")
    compare(ROOT / "docs/dump-text.md", dump_text(), update=update)
