"""All tables that there are, by name."""

from __future__ import annotations

from kafkatx.tables.captures import CAPTURES
from kafkatx.tables.cluster_events import CLUSTER_EVENTS
from kafkatx.tables.columns import Table
from kafkatx.tables.entries import ABORTED_TRANSACTIONS, PRODUCER_STATES
from kafkatx.tables.facts import FACTS
from kafkatx.tables.files import DAMAGE, FILES
from kafkatx.tables.findings import EVIDENCE, FINDINGS, NEXT, NOT_CHECKABLE
from kafkatx.tables.log_events import LOG_EVENTS
from kafkatx.tables.logs import BATCHES, MARKERS, RECORDS
from kafkatx.tables.offset_commits import OFFSET_COMMITS
from kafkatx.tables.settings import SETTINGS
from kafkatx.tables.transactions import TRANSACTION_STATES, TRANSACTIONS

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        FILES,
        BATCHES,
        RECORDS,
        MARKERS,
        TRANSACTION_STATES,
        TRANSACTIONS,
        ABORTED_TRANSACTIONS,
        PRODUCER_STATES,
        OFFSET_COMMITS,
        CLUSTER_EVENTS,
        LOG_EVENTS,
        SETTINGS,
        FINDINGS,
        EVIDENCE,
        NOT_CHECKABLE,
        NEXT,
        CAPTURES,
        DAMAGE,
    )
}
EXPORTED: dict[str, Table] = {**TABLES, FACTS.name: FACTS}
"""What an export holds: one table more, of which the export can be diagnosed."""
