"""Tables of the catalogue are kept between runs: what is kept is what is made, or it is made."""

import importlib
import inspect
import marshal
import os
import pkgutil
import sys

import pytest

import kafkatx
from kafkatx.terms import kept, kept_tables
from kafkatx.terms.kept_tables import FOLDERS, KeptTables, kept_table
from kafkatx.text.logs import matching


@pytest.fixture
def place(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "tables"
    monkeypatch.setattr(kept, "_places", lambda name: iter([path]))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return path


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of one table, whose file tests change."""
    for folder in FOLDERS:
        (tmp_path / "package" / folder).mkdir(parents=True)
    (tmp_path / "package" / FOLDERS[0] / "table.tsv").write_text("a\tb\n")
    monkeypatch.setattr(kafkatx, "__file__", str(tmp_path / "package" / "__init__.py"))
    monkeypatch.setattr(kept_tables, "made_of", kept_tables.made_of.__wrapped__)
    return tmp_path / "package" / FOLDERS[0] / "table.tsv"


def all_tables():
    """Functions whose tables are kept, by name."""
    found = {}
    for module in pkgutil.walk_packages(kafkatx.__path__, "kafkatx."):
        if not module.name.endswith("__main__"):
            for one in vars(importlib.import_module(module.name)).values():
                made = inspect.unwrap(one) if callable(one) and hasattr(one, "cache_info") else None
                if made is not None and getattr(one.__wrapped__, "__wrapped__", None) is made:
                    found[f"{made.__module__}.{made.__qualname__}"] = made
    return found


def told(make):
    """What a run has of a table, and whether it made it."""
    tables = KeptTables()
    value = tables.made("one", make)
    made = bool(tables.new)
    tables.keep()
    return value, made


def test_every_table_is_what_is_made_of_the_catalogue(place):
    tables = all_tables()
    assert len(tables) >= 6
    first = KeptTables()
    for name, make in tables.items():
        first.made(name, make)
    first.keep()
    again = KeptTables()
    for name, make in tables.items():
        assert again.made(name, lambda: pytest.fail("was kept")) == make(), name
    assert again.new == {}


def test_every_table_is_made_of_files_that_its_mark_tells():
    folders = {f"kafkatx.{folder.replace('/', '.')}" for folder in FOLDERS}
    assert {name.rpartition(".")[0].rpartition(".")[0] for name in all_tables()} <= folders


def test_patterns_are_what_they_were_before_they_were_rows():
    made = matching._patterns()
    assert len(made) > 1000
    assert list(matching.patterns()) == made
    assert [matching.pattern_of(matching.row_of(one)) for one in made] == made


def test_a_table_is_kept_until_a_file_changes(place, package):
    assert told(lambda: (1, "x")) == ((1, "x"), True)
    assert told(lambda: (2, "y")) == ((1, "x"), False)
    package.write_text("a\tb\tc\n")
    assert told(lambda: (3, "z")) == ((3, "z"), True)
    os.utime(package, ns=(1, 1))
    assert told(lambda: (4, "z")) == ((4, "z"), True)
    (package.parent / "new.tsv").write_text("")
    assert told(lambda: (5, "z")) == ((5, "z"), True)
    assert told(lambda: (6, "z")) == ((5, "z"), False)


def test_nothing_is_kept_where_the_package_is_no_folder(place, package, monkeypatch):
    monkeypatch.setattr(kafkatx, "__file__", str(package / "in.zip" / "__init__.py"))
    assert told(lambda: 1) == (1, False)
    assert told(lambda: 2) == (2, False)
    assert not place.exists()


@pytest.mark.parametrize("cut", [0, 1, 7, 40, -1])
def test_a_damaged_file_is_made_anew(place, package, cut):
    told(lambda: ("a", b"b", 1))
    place.write_bytes(place.read_bytes()[:cut])
    assert told(lambda: 2) == (2, True)
    assert told(lambda: 3) == (2, False)


@pytest.mark.parametrize("content", [7, (), [], {}])
def test_a_file_of_something_else_is_made_anew(place, package, content):
    place.parent.mkdir()
    place.write_bytes(marshal.dumps(content))
    assert told(lambda: 2) == (2, True)


def test_a_table_is_asked_for_once(monkeypatch):
    monkeypatch.setattr(kept_tables, "TABLES", KeptTables())
    asked = []
    table = kept_table(lambda: asked.append(1))
    assert table() is table() is None
    assert asked == [1]
