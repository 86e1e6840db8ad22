"""What logs saw of the end of a transaction that rows tell, as steps of its finding."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.story import Story
from kafkatx.words.explained import Step
from kafkatx.words.log_places import event_places

TOLD = {
    "granted": ("the coordinator's log shows the epoch that it gave next", "InitProducerId was granted"),
    "taken_over": ("another instance's log shows that it was given the id", "it has the epoch that follows"),
    "rollback": ("the coordinator's own log says that it rolled the transaction back", "its line names the timeout"),
    "end_request": ("the request log shows the EndTxn that ended it", "it was answered without an error"),
    "init_request": ("the request log shows the InitProducerId that ended it", "who sent it stands in the line"),
    "client_abort": ("its client's log says that it aborted", "no refusal follows"),
    "own_bump": ("its client then asked for a new epoch of its own producer id", "KIP-360: no second instance"),
    "state_refused": ("its client's next call was refused: the transaction was over", "it had not ended it itself"),
    "refusal": ("the old instance was alive: what it did after that was refused", "its epoch was over"),
}
"""For each witness what it tells, in the order in which things happen, and why that counts."""


def witnessed(story: Story, row: int) -> Iterator[Step]:
    """One step for each line that logs hold of the end of a transaction."""
    yield from steps_of(story, story.ends.witnesses.rows_of(row))


def steps_of(story: Story, seen: dict[str, int]) -> Iterator[Step]:
    """Steps for the witnesses of one end, in the order in which things happen."""
    for kind, (text, because) in TOLD.items():
        if kind in seen:
            yield Step(text, because, event_places(story, (seen[kind],)))


def name_by(story: Story, seen: dict[str, int]) -> str | None:
    """The transactional.id that the witnesses of an end name, where they agree."""
    owners = {row: client.transactional_id for client in story.logs.clients for row in client.rows}
    named = {story.logs.string(row, "transactional_id") or owners.get(row) for row in seen.values()} - {None}
    return named.pop() if len(named) == 1 else None


def was_alive(story: Story, rows: list[int]) -> bool:
    """Whether logs show the instance of one of these transactions refused afterwards."""
    seen = story.ends.witnesses.refusal
    return bool(len(seen)) and bool((seen[[row for row in rows if row < len(seen)]] >= 0).any())
