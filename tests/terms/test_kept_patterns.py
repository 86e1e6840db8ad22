"""Compiled patterns are kept between runs: what is made of kept code is what the library compiles, or it compiles."""

import gc
import marshal
import pkgutil
import re
import sys
from importlib import import_module

import pytest

import kafkatx
from kafkatx.terms import kept, kept_patterns
from kafkatx.terms.kept_patterns import KeptPatterns
from kafkatx.terms.regex import _Regex, regex, regex_of_names

SAMPLES = [
    (r"(?P<what>Epoch) (\d)|(?P<other>x)", int(re.IGNORECASE)), (rb"\boffset: (\d+)", 0), (r"[\u4e00-\u9fff]{2,}", 0),
    (r"(?i:a|b)(?<!c)(?=d)", int(re.DOTALL)), (r"(?x) a # what", 0), ("", 0),
]  # fmt: skip


@pytest.fixture
def place(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "patterns"
    monkeypatch.setattr(kept, "_places", lambda name: iter([path]))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return path


def kept_of(*samples):
    """Samples asked by one run, as the next run finds them."""
    first = KeptPatterns()
    for sample in samples:
        first.compiled(*sample)
    first.keep()
    return KeptPatterns()


def all_patterns():
    for module in pkgutil.walk_packages(kafkatx.__path__, "kafkatx."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    return sorted({one._given for one in gc.get_objects() if type(one) is _Regex and one.pattern != "("}, key=repr)


def test_every_pattern_is_what_the_library_makes_of_it(place):
    given = [*SAMPLES, *all_patterns()]
    again = kept_of(*given)
    for pattern, flags in given:
        one, own = again.compiled(pattern, flags), re.compile(pattern, flags)
        assert one == own  # of patterns this compares the code
        assert (one.pattern, one.flags, one.groups) == (own.pattern, own.flags, own.groups)
        assert dict(one.groupindex) == dict(own.groupindex)
    assert again.new == {}


def test_names_of_groups_are_known_both_ways(place):
    found = kept_of(SAMPLES[0]).compiled(*SAMPLES[0]).search("an epoch 4")
    assert (found.groupdict(), found.lastgroup, found.lastindex) == ({"what": "epoch", "other": None}, None, 2)


def test_runs_add_to_what_is_kept(place):
    kept_of(SAMPLES[0])
    assert kept_of(*SAMPLES[1:]).known.keys() == set(SAMPLES)


@pytest.mark.parametrize("cut", [0, 1, 7, 40, 200, -1])
def test_a_damaged_file_costs_time_and_nothing_else(place, cut):
    kept_of(*SAMPLES)
    place.write_bytes(place.read_bytes()[:cut])
    assert kept_of(*SAMPLES).compiled(*SAMPLES[0]) == re.compile(*SAMPLES[0])
    assert KeptPatterns().known.keys() == set(SAMPLES)


@pytest.mark.parametrize(
    "codes",
    [
        {SAMPLES[0]: (0, b"\xff" * 64, 1, {}, (None, None))}, {SAMPLES[0]: (0, b"\0" * 7, 0, {}, ())},
        {SAMPLES[0]: ()}, {SAMPLES[0]: None}, [], 7,
    ],
)  # fmt: skip
def test_code_that_is_none_is_refused_by_the_engine(place, codes):
    place.parent.mkdir()
    place.write_bytes(marshal.dumps((kept_patterns._engine(), codes)))
    assert KeptPatterns().compiled(*SAMPLES[0]) == re.compile(*SAMPLES[0])


def test_code_of_another_engine_is_not_taken(place):
    place.parent.mkdir()
    place.write_bytes(marshal.dumps(((1, 2, 4), {SAMPLES[0]: (0, b"", 0, {}, ())})))
    assert KeptPatterns().known == {}


def test_an_engine_that_is_not_known_compiles_as_ever(place, monkeypatch):
    monkeypatch.setattr(kept_patterns, "ENGINES", frozenset())
    assert kept_of(*SAMPLES).known == {}
    assert KeptPatterns().compiled(*SAMPLES[0]) == re.compile(*SAMPLES[0])


def test_nothing_is_written_where_python_writes_no_bytecode(place, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept_of(*SAMPLES)
    assert not place.exists()


def test_a_folder_that_refuses_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    places = [tmp_path / "file" / "patterns", tmp_path / "folder" / "patterns"]
    monkeypatch.setattr(kept, "_places", lambda name: iter(places))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert kept_of(*SAMPLES).known.keys() == set(SAMPLES)
    assert [path.name for path in places[1].parent.iterdir()] == ["patterns"]


def test_a_wrong_pattern_is_told_as_ever(place):
    with pytest.raises(re.error):
        KeptPatterns().compiled("(", 0)


def test_patterns_of_names_leave_nothing_behind(monkeypatch):
    monkeypatch.setattr(kept_patterns.PATTERNS, "new", {})
    assert regex_of_names("payments-eu-1").search("of payments-eu-1")
    assert kept_patterns.PATTERNS.new == {}
    assert regex("payments-eu-2").search("of payments-eu-2")
    assert list(kept_patterns.PATTERNS.new) == [("payments-eu-2", 0)]


def test_the_user_has_a_place_where_the_package_has_none(monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "__spec__", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [path.parent for path in kept._places("patterns")] == [tmp_path / "kafkatx"]
    monkeypatch.setenv("XDG_CACHE_HOME", "of/nobody")
    assert list(kept._places("patterns")) == []
