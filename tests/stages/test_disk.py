"""Files are whole or absent, hashed as they are written, and a disk's refusal is an error of the output."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from kafkatx.stages.disk import HashedFile, sync_folder, write_whole, writing
from kafkatx.terms.errors import OutputError, UsageError


def test_a_file_knows_its_size_and_hash(tmp_path):
    with HashedFile(tmp_path / "a") as file:
        assert file.write(b"abc") == 3
        assert file.write(memoryview(b"defg").cast("H")) == 4
        assert (file.tell(), file.closed) == (7, False)
    assert file.closed
    assert (file.size, file.sha256) == (7, hashlib.sha256(b"abcdefg").hexdigest())
    assert (tmp_path / "a").read_bytes() == b"abcdefg"


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    (tmp_path / "a").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        HashedFile(tmp_path / "a")


def test_what_is_written_is_synced_before_its_name_counts(tmp_path, monkeypatch):
    order = []
    sync, rename = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: order.append("sync") or sync(descriptor))
    monkeypatch.setattr(Path, "replace", lambda path, target: order.append("rename") or rename(path, target))
    write_whole(tmp_path / "a", b"one")
    assert order == ["sync", "rename", "sync"]


def test_a_small_file_is_replaced_whole_also_over_a_draft_that_was_left(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a.new").write_bytes(b"half of wh")
    write_whole(tmp_path / "a", b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"new"}


def test_a_file_system_that_can_not_sync_a_folder_is_let_be(tmp_path, monkeypatch):
    def refused(_):
        raise OSError(errno.EINVAL, "no")

    monkeypatch.setattr(os, "fsync", refused)
    sync_folder(tmp_path)


def test_only_what_the_disk_refuses_becomes_an_error_of_the_output(tmp_path):
    with pytest.raises(OutputError, match="x could not be written: No space left on device"), writing(Path("x")):
        raise OSError(errno.ENOSPC, "Error writing bytes to file")
    with pytest.raises(OutputError, match="x could not be written: of another kind"), writing(Path("x")):
        raise OSError("of another kind")
    with pytest.raises(UsageError), writing(Path("x")):
        raise UsageError("mine")
