"""An export that lies in an object store is diagnosed like one in a folder, and refused by the same words."""

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.stages.export_folders import exports_among
from kafkatx.terms.errors import UsageError
from tests.evidence import fixtures
from tests.exports import exported
from tests.sources.s3_server import serving

CASE = fixtures() / "k39-fenced/broker-1"


@pytest.fixture
def bucket(tmp_path):
    exported([CASE], tmp_path / "export")
    with serving("fleet") as served:
        served.put_folder(tmp_path / "export", "export")
        served.put_folder(CASE, "case")
        yield served


def test_it_says_what_the_files_say(bucket):
    assert document(diagnose([bucket.url("export")]), "") == document(diagnose([CASE]), "")


def test_only_what_has_a_manifest_is_one(bucket):
    assert exports_among([bucket.url("case")]) == []
    with pytest.raises(UsageError, match="s3://fleet/export is an export and s3://fleet/case is none"):
        exports_among([bucket.url("case"), bucket.url("export")])


def test_what_changed_is_refused_with_its_name(bucket, tmp_path):
    (path,) = (tmp_path / "export/facts").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-9] + b"something")
    bucket.put_folder(tmp_path / "export", "export")
    with pytest.raises(UsageError, match=rf"s3://fleet/export/facts/{path.name} is not as it was exported"):
        diagnose([bucket.url("export")])
