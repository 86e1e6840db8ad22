"""Each row of the table of known defects: a text of its signs makes the finding, or none but with a release."""

from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.catalogue.entries import KnownDefect
from kafkatx.terms.catalogue.loading import known_defects
from kafkatx.terms.errors import NothingReadableError

SHOWN = [one for one in known_defects() if one.shows]
SURE = [one for one in SHOWN if one.is_sure]
UNLOGGED = [one for one in SURE if "handlers.kop" not in one.texts]
"""Those that no name of a logger is a part of."""
BY_RELEASE = [one for one in SHOWN if one.sure == "release" and (one.since or one.fixed)]


def _told(folder: Path, text: str) -> list[str]:
    """Ids of the defects that a text makes findings of."""
    path = folder / "page.md"
    path.write_text(text)
    try:
        found = document(diagnose([path]), "t")["findings"]
    except NothingReadableError:
        return []
    return [one["facts"]["id"] for one in found if one["rule"] in ("client_bug", "broker_bug")]


def _logged(defect: KnownDefect) -> str:
    """Lines of a log that show a defect, and what must stand beside it."""
    signs = [*defect.shows[:1], *defect.beside[:1]]
    return "".join(
        f"2024-03-04 10:11:1{at},131 ERROR [app] failed: {' at '.join(one)}\n" for at, one in enumerate(signs)
    )


@pytest.mark.parametrize("defect", SURE, ids=lambda defect: defect.id)
def test_what_only_the_defect_makes_is_told(tmp_path, defect):
    assert defect.id in _told(tmp_path, _logged(defect))


@pytest.mark.parametrize("defect", UNLOGGED, ids=lambda defect: defect.id)
def test_so_it_is_where_nothing_of_a_log_stands_before_it(tmp_path, defect):
    signs = [*defect.shows[:1], *defect.beside[:1]]
    text = "\n\n".join(f"error: {': '.join(one)}" for one in signs)
    assert defect.id in _told(tmp_path, f"Since the update we see this:\n\n```\n{text}\n```\n")


@pytest.mark.parametrize("defect", BY_RELEASE, ids=lambda defect: defect.id)
def test_what_others_make_too_is_told_of_a_release_that_has_it(tmp_path, defect):
    assert _told(tmp_path, f"{_logged(defect)}\nThis is sqlite 3.1.\n") in ([], ["librdkafka/assert"])


@pytest.mark.parametrize("defect", SHOWN, ids=lambda defect: defect.id)
def test_words_that_name_an_issue_tell_nothing(tmp_path, defect):
    assert not _told(tmp_path, f"Is this {defect.id}? The notes of {defect.product} say that {defect.meaning}.\n")


@pytest.mark.parametrize("defect", SURE, ids=lambda defect: defect.id)
def test_nor_does_a_sentence_that_quotes_its_texts(tmp_path, defect):
    quoted = " and ".join(f'"{text}"' for text in defect.shows[0])
    assert not _told(tmp_path, f"In the issue they had a message like {quoted} in an old release.\n")
