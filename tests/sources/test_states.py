"""What files look like tells whether they are still the same; what is in an archive is the archive."""

import os

from kafkatx.sources import archives
from kafkatx.sources.states import FileState, file_states


def test_a_file_is_known_by_size_and_time(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"abc")
    os.utime(path, ns=(5, 1_700_000_000_123_456_789))
    assert file_states([str(path)]) == [FileState(str(path), 3, 1_700_000_000_123_456_789)]
    path.write_bytes(b"abcd")
    assert file_states([str(path)])[0].size == 4


def test_files_come_once_and_in_order(tmp_path):
    names = [str(tmp_path / name) for name in ("b", "a", "b")]
    assert [state.path for state in file_states(names)] == names[1::-1]


def test_a_file_that_is_gone_has_no_size(tmp_path):
    gone = str(tmp_path / "gone")
    assert file_states([gone]) == [FileState(gone, None, None)]


def test_what_lies_in_an_archive_is_the_archive(tmp_path):
    bundle = tmp_path / "bundle.tgz"
    bundle.write_bytes(b"x")
    assert [state.path for state in file_states([f"{bundle}!/a", f"{bundle}!/b.zip!/c"])] == [str(bundle)]


def test_a_folder_may_have_the_mark_of_an_archive_in_its_name(tmp_path):
    path = tmp_path / "odd!" / "a.log"
    path.parent.mkdir()
    path.write_bytes(b"abc")
    assert file_states([str(path)]) == [FileState(str(path), 3, path.stat().st_mtime_ns)]


def test_standard_input_is_known_by_its_content(tmp_path, monkeypatch):
    def mounted(content):
        root = tmp_path / "input"
        root.write_bytes(content)
        monkeypatch.setattr("kafkatx.sources.states.mount", lambda path: archives.Mounted(path, str(root), True))
        return file_states(["-"])[0]

    one, other = mounted(b"abc"), mounted(b"abd")
    assert (one.path, one.size, one.mtime_ns) == ("-", 3, None)
    assert one == mounted(b"abc") != other
