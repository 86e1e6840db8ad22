"""URLs of stores: what is shown of them, what is not, and which are refused without showing a secret."""

import pickle

import pytest

from kafkatx.sources import places, stores
from kafkatx.sources.urls import is_url, resolved
from kafkatx.terms.errors import UsageError

SECRET = "Geheim123"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/a/b/", "s3://bucket/a/b"),
        ("S3A://bucket/a", "s3://bucket/a"),
        (f"s3://KEY:{SECRET}@bucket/a%2Fb c?endpoint_override=h:1&x={SECRET}", "s3://bucket/a%2Fb c"),
        ("gs://anonymous@bucket/a", "gs://bucket/a"),
        ("gcs://bucket/a", "gs://bucket/a"),
        ("abfs://box@account.dfs.core.windows.net/a", "abfs://box@account.dfs.core.windows.net/a"),
        (f"abfs://:{SECRET}@account.dfs.core.windows.net/box/a", "abfs://account.dfs.core.windows.net/box/a"),
        (f"abfss://box@account.dfs.core.windows.net/a?account_key={SECRET}", "abfss://box@account.dfs.core.windows.net/a"),
        ("hdfs://name:8020/a", "hdfs://name:8020/a"),
        ("hdfs:///a", "hdfs:///a"),
    ],
)  # fmt: skip
def test_what_is_shown_of_a_url(given, shown):
    found, way = resolved(given)
    assert found == shown
    assert is_url(found)
    assert way is not None
    assert SECRET not in repr(way) + way.shown
    assert resolved(found)[0] == shown
    assert pickle.loads(pickle.dumps(way)).uri == way.uri


@pytest.mark.parametrize(
    ("given", "path"),
    [("file:///a/b%20c", "/a/b c"), ("file://localhost/a", "/a"), ("/a/b", "/a/b"), ("a:b", "a:b"), ("-", "-")],
)
def test_what_lies_on_this_machine(given, path):
    assert resolved(given) == (path, None)


@pytest.mark.parametrize(
    "given",
    [
        f"s3://KEY:{SECRET}/rest@bucket/a",
        f"s3://KEY:{SECRET}@/a",
        f"s3://KEY:a@{SECRET}@buc ket/a",
        f"http://user:{SECRET}@host/a?token={SECRET}",
        f"file://{'host'}/a",
    ],
)
def test_a_url_that_is_refused_is_not_shown(given):
    with pytest.raises(UsageError) as refused:
        resolved(given)
    assert SECRET not in str(refused.value)


def test_one_bucket_is_reached_in_one_way_a_call():
    one, other = (f"s3://KEY:{secret}@twofold/a" for secret in (SECRET, "other"))
    with pytest.raises(UsageError, match="s3://twofold is given with two different") as refused:
        places.admitted([one, other])
    assert SECRET not in str(refused.value)
    places.admitted([other])
    places.admitted(["s3://twofold/b"])
    assert [way.uri for way in stores.ways() if way.shown == "s3://twofold"] == ["s3://KEY:other@twofold/"]


def test_an_error_of_the_store_tells_no_secret():
    _, way = resolved(f"s3://KEY:Geheim%2F123@bucket/a?session={SECRET}&region=eu")
    text = way.hide(f"no {way.uri} for KEY with Geheim/123 or Geheim%2F123, {SECRET}, in bucket")
    assert not any(part in text for part in ("Geheim", "KEY", "session="))
    assert "in bucket" in text
