"""The table of known defects: whole rows, texts that can be found, releases that have them."""

import re

import pytest

from kafkatx.terms.catalogue.entries import KnownDefect
from kafkatx.terms.catalogue.loading import known_defects
from kafkatx.terms.catalogue.lookup import by_name
from kafkatx.text.releases_told import PRODUCTS

RELEASE = re.compile(r"\d+(?:\.\d+)+")


def test_there_are_many_and_each_is_named_once():
    ids = [defect.id for defect in known_defects()]
    assert len(ids) >= 60
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("defect", known_defects(), ids=lambda defect: defect.id)
def test_a_row_says_what_is_wrong_and_what_to_do(defect):
    assert defect.side in ("client", "broker")
    assert defect.sure in ("yes", "release", "guess")
    assert not defect.meaning.endswith(".")
    assert defect.remedy
    assert defect.source
    assert all(RELEASE.fullmatch(one) for one in (*defect.fixed, defect.since or "1.0"))
    assert not (defect.beside and not defect.shows)


@pytest.mark.parametrize("defect", [one for one in known_defects() if one.shows], ids=lambda defect: defect.id)
def test_what_a_line_must_show_is_long_enough_to_tell(defect):
    assert all(len(text) >= 4 and text == text.strip() for text in defect.texts - {": retrying"} if text[0] != ":")
    assert all(sum(map(len, one)) >= 12 for one in defect.shows)


@pytest.mark.parametrize("defect", [one for one in known_defects() if one.shows and not one.is_sure])
def test_the_release_of_a_product_that_decides_can_be_told(defect):
    assert defect.product in PRODUCTS


@pytest.mark.parametrize(
    ("release", "is_in"),
    [
        ((2, 1, 9), False),
        ((2, 2), True),
        ((2, 2, 0), True),
        ((2, 4, 9), True),
        ((2, 4), True),
        ((2, 5, 0), False),
        ((2, 5), False),
        ((2, 5, 3), False),
        ((3,), False),
    ],
)
def test_a_defect_is_in_the_releases_from_its_first_to_its_repair(release, is_in):
    (defect,) = by_name("librdkafka#4736")
    assert isinstance(defect, KnownDefect)
    assert defect.is_in(release) is is_in


@pytest.mark.parametrize(
    ("release", "is_in"),
    [((3, 5, 9), False), ((3, 6, 1), True), ((3, 6, 2), False), ((3, 6), True), ((3, 7, 0), True), ((3, 7, 1), False),
     ((3, 8, 0), False), ((3, 9, 0), False), ((4, 0, 0), False)],
)  # fmt: skip
def test_each_line_of_releases_has_a_repair_of_its_own(release, is_in):
    (defect,) = by_name("KAFKA-16217")
    assert isinstance(defect, KnownDefect)
    assert defect.is_in(release) is is_in
