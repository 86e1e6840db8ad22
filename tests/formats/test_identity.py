import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats import identity
from kafkatx.formats.identity import (
    MetaProperties,
    clean_shutdown_problems,
    parse_meta_properties,
    partition_metadata_problems,
)
from tests.evidence import cases
from tests.formats.captures import broker_files

UUID = "UnHLUdcHRoqDmzdEpY4DGQ"


def test_meta_properties_of_kraft_name_node_and_cluster():
    text = f"#\n#Sat Nov 21 10:28:48 UTC 2026\nnode.id=1\ndirectory.id={UUID}\nversion=1\ncluster.id=ucROrHJE\n"
    assert parse_meta_properties(text) == MetaProperties(1, 1, "ucROrHJE")


def test_meta_properties_of_zookeeper_before_2_4_name_no_cluster():
    assert parse_meta_properties("#\n#a date\nbroker.id=7\nversion=0\n") == MetaProperties(0, 7)


def test_java_properties_may_use_other_separators_and_escapes():
    text = "! old\r\n version : 0\r\nbroker.id 3\r\ncluster\\.id = a\\=b\\u0041\\:c\r\nmore\r\n\\=x=1"
    meta = parse_meta_properties(text)
    assert (meta.version, meta.broker_id, meta.cluster_id) == (0, 3, "a=bA:c")
    assert meta.problems == ()


def test_numbers_that_are_none_are_named_with_their_line():
    meta = parse_meta_properties("version=1\nnode.id=one\ncluster.id=c\n")
    assert (meta.broker_id, meta.cluster_id) == (None, "c")
    assert [(problem.line, problem.found) for problem in meta.problems] == [(2, "one")]


def test_an_empty_meta_properties_is_a_problem():
    assert [problem.found for problem in parse_meta_properties("").problems] == ["no version"]


def test_partition_metadata_names_the_topic_id():
    assert partition_metadata_problems(f"version: 0\ntopic_id: {UUID}") == ()
    assert partition_metadata_problems(f"version: 0\ntopic_id: {UUID}\n") == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        (f"version: 1\ntopic_id: {UUID}", 1),
        ("version: 0", 2),
        ("version: 0\ntopic_id: short", 2),
        (f"version: 0\n{UUID}", 2),
        ("\x00" * 40, 1),
    ],
)
def test_damaged_partition_metadata_names_its_line(text, line):
    assert [problem.line for problem in partition_metadata_problems(text)] == [line]


def test_a_clean_shutdown_file_may_be_empty_or_tell_the_broker_epoch():
    assert clean_shutdown_problems("") == ()
    assert clean_shutdown_problems('{"version":0,"brokerEpoch":6}') == ()


@pytest.mark.parametrize(
    "text", ["{", "[]", "null", '{"version":1}', "[" * 100_000, "9" * 5000, '{"version":' + "[" * 5000]
)
def test_a_clean_shutdown_file_with_other_content_is_a_problem(text):
    assert len(clean_shutdown_problems(text)) == 1


@given(st.text(max_size=60) | st.from_regex(r"(version|node\.id|broker\.id)[=: \\]{0,3}.{0,9}\n?", fullmatch=True))
def test_any_text_is_read_without_an_error(text):
    for parse in (parse_meta_properties, partition_metadata_problems, clean_shutdown_problems):
        parse(text)


def test_every_recorded_identity_file_is_read_without_a_problem():
    readers = {
        identity.META_PROPERTIES: lambda text: parse_meta_properties(text).problems,
        f"*/{identity.PARTITION_METADATA}": partition_metadata_problems,
        identity.CLEAN_SHUTDOWN: clean_shutdown_problems,
    }
    for pattern, problems_of in readers.items():
        texts = [path.read_text() for path in broker_files(pattern)]
        assert texts, pattern
        assert all(problems_of(text) == () for text in texts), pattern


def test_recorded_brokers_say_the_number_of_their_folder():
    for case in cases():
        modes = json.loads((case / "case.json").read_text())["mode"]
        for path in case.glob("broker-*/meta.properties"):
            meta = parse_meta_properties(path.read_text())
            assert meta.broker_id == int(path.parent.name.removeprefix("broker-"))
            assert meta.version == (1 if modes == "kraft" else 0)
