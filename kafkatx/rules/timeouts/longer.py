"""How long transaction.timeout.ms has to be, by what the id's transactions took."""

from __future__ import annotations

from kafkatx.findings.end_groups import EndGroup
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.rules.timeouts.late_calls import LateCall
from kafkatx.words.config_context import advised
from kafkatx.words.explanation import Phrase, measure
from kafkatx.words.proposals import Lasted, Longer, Remedies
from kafkatx.words.remedies import transaction_timeout
from kafkatx.words.values import Duration

LATE = Phrase(Lasted, measure("commitTransaction was called {time} after the start"))
LONGEST = Phrase(Lasted, measure("the longest transaction of the id ran {time} (at least: it was cut off)"))


def longer_timeout(group: EndGroup, late: LateCall | None) -> Remedies:
    """A timeout from the longest transaction measured of the id, and from what a broker was away meanwhile.

    Where its application called so late, and nothing was away, that is the length that it needs.
    """
    model = group.model
    of_id = model.transactions_of(int(group.first.row["id_code"]))
    needed = int(model.ends.duration_ms[of_id].max())
    t = model.transactions[group.numbers]
    known = t[(t["started_at"] >= 0) & (t["decided_at"] >= 0)]
    away = [
        outage.duration_ms
        for outage in outages(model.logs)
        if ((known["started_at"] <= outage.until) & (known["decided_at"] >= outage.since)).any()
    ]
    whom = advised(model, group.transactional_id)
    if late is not None and not away and late.after >= needed:
        return transaction_timeout(whom, late.after, LATE.of(Lasted(late.after)), why=Longer.late_call)
    measured = LONGEST.of(Lasted(Duration(needed)))
    return transaction_timeout(whom, max(0, needed), measured, max(away, default=0))
