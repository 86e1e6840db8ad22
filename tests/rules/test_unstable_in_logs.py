"""unstable_transactional_id by what logs show: two ids of one shape with a UUID, granted long after one another."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

RULE = "unstable_transactional_id"
FIRST, SECOND = "1f7a2e0c-9c5d-4d21-8d55-e2b3c0c2e8f1", "c07713aa-0be1-45f3-a7d7-6e0f5a1d90b2"
LAYOUTS = (
    "{time}.402 INFO  TransactionManager - [Producer clientId=p, transactionalId={name}] ProducerId set to {id} with "
    "epoch {epoch}\n",
    "[2026-11-21 {time},402] INFO [Producer clientId=p, transactionalId={name}] ProducerId set to {id} with epoch "
    "{epoch} (org.apache.kafka.clients.producer.internals.TransactionManager)\n",
)
SAID = (
    'props: transactional.id = "exp-" + UUID.randomUUID()\n',
    "It stops for 15 min whenever the pod is killed. The id is exp- plus uuid.uuid4().\n",
    "we give it a random suffix at the start\n",
)


def _log(layout: str, *grants: tuple[str, str, int, int]) -> str:
    lines = (layout.format(time=time, name=name, id=id, epoch=epoch) for time, name, id, epoch in grants)
    return "".join(lines)


def _told(folder: Path, *parts: str) -> dict[str, str]:
    path = folder / "page.md"
    path.write_text("\n".join(parts))
    return {one["rule"]: one["verdict"] for one in document(kafkatx.diagnose([path]), "t")["findings"]}


@pytest.mark.parametrize("layout", LAYOUTS, ids=["time of day", "date"])
def test_two_ids_that_were_granted_long_after_one_another_are_possible(layout, tmp_path):
    log = _log(layout, ("09:14:20", f"exp-{FIRST}", 5001, 0), ("09:31:41", f"exp-{SECOND}", 6000, 0))
    assert _told(tmp_path, log) == {RULE: "possible"}


@pytest.mark.parametrize("layout", LAYOUTS, ids=["time of day", "date"])
@pytest.mark.parametrize("said", SAID)
def test_words_that_make_the_id_random_make_it_likely(said, layout, tmp_path):
    log = _log(layout, ("09:14:20", f"exp-{FIRST}", 5001, 0), ("09:31:41", f"exp-{SECOND}", 6000, 0))
    assert _told(tmp_path, said, log)[RULE] == "likely"


@pytest.mark.parametrize(
    "grants",
    [
        [("09:14:20", f"exp-{FIRST}", 5001, 0), ("09:14:41", f"exp-{SECOND}", 6000, 0)],
        [("09:14:20", f"exp-{FIRST}", 5001, 0), ("09:31:41", f"exp-{FIRST}", 5001, 1)],
        [("09:14:20", f"exp-{FIRST}", 5001, 0), ("09:31:41", f"exp-{SECOND}", 6000, 3)],
        [("09:14:20", f"exp-{FIRST}", 5001, 0), ("09:31:41", f"imp-{SECOND}", 6000, 0)],
        [("09:14:20", "exp-1", 5001, 0), ("09:31:41", "exp-2", 6000, 0)],
    ],
    ids=["side by side", "a restart", "taken up again", "other applications", "ordinals"],
)
def test_ids_that_are_kept_or_used_side_by_side_are_not_told(grants, tmp_path):
    assert RULE not in _told(tmp_path, SAID[0], _log(LAYOUTS[0], *grants))
