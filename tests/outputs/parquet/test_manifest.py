"""What an export says of itself can be read again, and anything else is no export."""

import json

import pytest

from kafkatx.outputs.parquet.manifest import MANIFEST, Manifest, read_manifest
from kafkatx.outputs.parquet.parts import TableFile
from tests.outputs.parquet.small import COUNTS, LETTERS, recipe

PART = TableFile("part-00000.parquet", 3, 400, "ab" * 32)


def whole():
    return Manifest(recipe(LETTERS, COUNTS, verify=True).document(), {"letters": [PART, PART]})


def test_it_is_read_as_it_was_written(tmp_path):
    (tmp_path / MANIFEST).write_bytes(whole().to_json())
    assert read_manifest(tmp_path) == whole()


def test_it_is_complete_with_the_last_table_that_was_wanted():
    manifest = whole()
    assert not manifest.is_complete
    manifest.tables["counts"] = [PART]
    assert manifest.is_complete
    assert manifest.summary() == [
        {"name": "letters", "rows": 6, "bytes": 800, "files": 2},
        {"name": "counts", "rows": 3, "bytes": 400, "files": 1},
    ]


def test_it_does_not_depend_on_the_order_in_which_tables_were_written():
    one, other = whole(), whole()
    one.tables["counts"] = [PART]
    other.tables = {"counts": [PART], **other.tables}
    assert one.to_json() == other.to_json()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "{",
        '{"format": "other", "schema": 1, "wanted": [], "tables": {}}',
        '{"format": "kafkatx export", "schema": 2, "wanted": [], "tables": {}}',
        '{"format": "kafkatx export", "schema": 1, "wanted": 7, "tables": {}}',
        '{"format": "kafkatx export", "schema": 1, "wanted": [], "tables": {"a": {"files": [7]}}}',
        '{"format": "kafkatx export", "schema": 1, "wanted": [], "tables": []}',
    ],
)
def test_what_is_no_manifest_of_ours_is_none(text, tmp_path):
    (tmp_path / MANIFEST).write_text(text)
    assert read_manifest(tmp_path) is None
    assert read_manifest(tmp_path / "none") is None


def test_a_name_that_leads_out_of_the_folder_is_kept_in_it(tmp_path):
    document = json.loads(whole().to_json())
    document["tables"]["letters"]["files"][0]["path"] = "../../elsewhere"
    (tmp_path / MANIFEST).write_text(json.dumps(document))
    assert "letters/elsewhere" in read_manifest(tmp_path).files()
