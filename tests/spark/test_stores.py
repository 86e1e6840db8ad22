"""Spark's workers open the objects that the driver was given, and say what this machine says of the folder."""

import json

import pytest

from kafkatx import spark as kafkatx_spark
from kafkatx.local.diagnosis import diagnose as diagnose_here
from kafkatx.outputs.diagnosis_json import document
from kafkatx.segments import batches as walks
from kafkatx.spark.diagnosis import diagnose as diagnose_on
from tests.evidence import FIXTURES
from tests.exports import exported
from tests.sources.s3_server import Bucket, serving

FENCED = FIXTURES / "k39-fenced"
TINY = 400
COLUMNS = ["path", "position", "topic", "base_offset", "crc", "producer_id"]
SECRETS = "Geheim123", "AKIAFLEET", "endpoint_override"


@pytest.fixture
def bucket():
    with serving("fleet") as served:
        served.put_folder(FENCED, "case")
        yield served


def in_store(document: object) -> str:
    return json.dumps(document, indent=1).replace(str(FENCED), "s3://fleet/case")


def test_a_diagnosis_whose_files_lie_in_a_store(spark, bucket: Bucket, monkeypatch):
    monkeypatch.setattr(walks, "STRETCH_BYTES", TINY)
    found = in_store(document(diagnose_on(spark, bucket.url("case"), stretch_bytes=TINY), ""))
    assert found == in_store(document(diagnose_here([str(FENCED)]), ""))
    assert not any(secret in found for secret in SECRETS)


def test_an_export_that_lies_in_a_store(spark, bucket: Bucket, tmp_path):
    bucket.put_folder(exported([FENCED], tmp_path / "export"), "export")
    found = document(diagnose_on(spark, bucket.url("export")), "")
    assert found == document(diagnose_here([bucket.url("export")]), "") == document(diagnose_here([str(FENCED)]), "")


def test_tables_whose_files_lie_in_a_store(spark, bucket: Bucket):
    url = bucket.url("case")
    tables = [
        kafkatx_spark.read(spark, place, table="batches", columns=COLUMNS, stretch_bytes=size).orderBy(COLUMNS)
        for place, size in ((str(FENCED), None), (url, 2000))
    ]
    here, there = (in_store([row.asDict() for row in table.collect()]) for table in tables)
    assert here == there
    assert here.count("s3://fleet/case") > 90
    kafkatx_spark.register(spark)
    loaded = spark.read.format("kafkatx").option("table", "markers").load(url)
    assert loaded.count() == kafkatx_spark.read(spark, str(FENCED), table="markers").count() > 0


def test_a_store_that_workers_do_not_reach_is_said(spark, bucket: Bucket):
    frame = kafkatx_spark.read(spark, bucket.url("case"), table="batches")
    bucket.refuses_all = 403
    with pytest.raises(Exception, match=r"WorkerLacksFileError.*access denied") as failed:  # Spark wraps it
        frame.count()
    assert not any(secret in str(failed.value) for secret in SECRETS)
