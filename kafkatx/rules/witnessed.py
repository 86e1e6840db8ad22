"""What logs saw of the end of a transaction that rows tell, as steps of its finding."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.story import Story
from kafkatx.rules.finding import Step
from kafkatx.rules.log_wording import event_places

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
    if row >= len(story.witnesses.rollback):
        return
    seen = story.witnesses.rows_of(row)
    for kind, (text, because) in TOLD.items():
        if kind in seen:
            yield Step(text, because, event_places(story, (seen[kind],)))


def was_alive(story: Story, rows: list[int]) -> bool:
    """Whether logs show the instance of one of these transactions refused afterwards."""
    seen = story.witnesses.refusal
    return bool(len(seen)) and bool((seen[[row for row in rows if row < len(seen)]] >= 0).any())
