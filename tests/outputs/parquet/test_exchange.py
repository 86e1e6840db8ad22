"""Two folders change names, with the system's help or without."""

import pytest

from kafkatx.outputs.parquet import exchange as module
from kafkatx.outputs.parquet.exchange import aside, exchange
from tests.outputs.parquet.small import content


@pytest.fixture(params=["system", "steps"])
def either(request, monkeypatch):
    if request.param == "steps":
        monkeypatch.setattr(module, "_at_once", lambda one, other: False)


def test_folders_change_names(either, tmp_path):
    one, other = tmp_path / "one \udcff", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "name").write_bytes(folder.name.encode("utf-8", "surrogateescape"))
    exchange(one, other)
    assert content(one) == {"name": b"other"}
    assert content(other) == {"name": b"one \xff"}
    assert not aside(other).exists()


def test_a_folder_that_is_not_there_is_an_error(either, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "one", tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
