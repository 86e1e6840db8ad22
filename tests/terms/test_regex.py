"""Patterns are compiled by need, answer like compiled ones, and all of them are patterns."""

import gc
import pickle
import pkgutil
import re
from importlib import import_module

import pytest

import kafkatx
from kafkatx.terms.regex import _Regex, regex

TEXT = "epoch 4 of orders-1, epoch 5 of orders-2"


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_a_pattern_answers_like_a_compiled_one(flags):
    lazy, compiled = regex(r"(?P<what>Epoch) (\d)", flags), re.compile(r"(?P<what>Epoch) (\d)", flags)
    for name in ("search", "match", "fullmatch"):
        asked = [getattr(one, name)(TEXT) for one in (lazy, compiled)]
        assert [found and (found.span(), found.groupdict()) for found in asked] == [asked[1] and (
            asked[1].span(), asked[1].groupdict()
        )] * 2  # fmt: skip
    assert lazy.findall(TEXT) == compiled.findall(TEXT)
    assert [one.span() for one in lazy.finditer(TEXT, 10)] == [one.span() for one in compiled.finditer(TEXT, 10)]
    assert (lazy.sub("x", TEXT), lazy.split(TEXT)) == (compiled.sub("x", TEXT), compiled.split(TEXT))
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert lazy.groupindex == compiled.groupindex


def test_nothing_is_compiled_before_it_is_asked():
    lazy = regex("(")
    assert lazy.pattern == "("
    assert not hasattr(lazy, "answer")
    with pytest.raises(re.error):
        lazy.search("text")


def test_a_pattern_is_pickled_by_what_it_was_given():
    lazy = regex("b", re.IGNORECASE)
    assert lazy.search("aB")
    assert pickle.loads(pickle.dumps(lazy)).search("aB")


def test_every_pattern_of_the_package_compiles():
    for module in pkgutil.walk_packages(kafkatx.__path__, "kafkatx."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    gc.unfreeze()  # a command that ran in this process took what was loaded out of the looks for cycles
    patterns = [one for one in gc.get_objects() if type(one) is _Regex and one.pattern != "("]
    assert len(patterns) > 600
    for one in patterns:
        re.compile(one.pattern, one._given[1])
