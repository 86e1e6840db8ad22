"""Places: of this machine what `pathlib` says, of a store the same by its URL."""

from pathlib import Path, PurePosixPath

import pytest

from kafkatx.sources import places

URL = "s3://bucket/data/orders-0/00000000000000000000.log"
LOCAL = [
    "/data/orders-0/1.log",
    "data/orders-0/1.log",
    "1.log",
    ".",
    "/",
    "../x/y.log",
    "a//b/c",
    "a/./b",
    "a/.",
    "a/..",
    "..",
    "a/b/",
    "//a",
    "",
]


@pytest.mark.parametrize("path", LOCAL)
def test_of_this_machine_as_pathlib(path):
    assert places.name(path) == Path(path).name
    assert places.parent(path) == str(Path(path).parent)
    assert places.absolute(path) == str(Path(path).absolute())
    assert places.folder_name(path) == Path(path).absolute().parent.name
    assert places.parts(path) == Path(path).absolute().parts
    assert not places.is_url(path)


def test_of_a_store():
    assert places.name(URL) == "00000000000000000000.log"
    assert places.parent(URL) == "s3://bucket/data/orders-0"
    assert places.folder_name(URL) == "orders-0"
    assert places.absolute(URL) == places.identity(URL) == places.normal(URL) == URL
    assert places.parts(URL) == ("s3://bucket", *PurePosixPath("data/orders-0/00000000000000000000.log").parts)
    assert places.parent("s3://bucket/a") == places.parent("s3://bucket") == "s3://bucket"
    assert places.joined("s3://bucket/a", "b") == "s3://bucket/a/b"
    assert places.beside(URL, ".txnindex") == "s3://bucket/data/orders-0/00000000000000000000.txnindex"


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        (URL, "s3://bucket/data", True),
        (URL, "s3://bucket", True),
        (URL, URL, True),
        (URL, "s3://bucket/dat", False),
        (URL, "gs://bucket/data", False),
        (URL, "/", False),
        ("/a/b", "/a", True),
        ("/ab", "/a", False),
    ],
)
def test_within(path, folder, inside):
    assert places.is_within(path, folder) is inside


def test_folders_below_a_loop_of_links_end(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    (tmp_path / "a" / "x").touch()
    refused: list[OSError] = []
    assert [*places.folders_below(str(tmp_path), refused)] == [(str(tmp_path), []), (str(tmp_path / "a"), ["x"])]
    assert refused == []
