"""The example of each page in docs/rules: the smallest evidence that shows the rule, and what is said of it.

Evidence is of a recorded case where one shows the rule, else a text as people paste it; the page says which.
"""

import json
from pathlib import Path

from tests.evidence import FIXTURES, ROOT
from tests.house.examples import example, printed

LINES_SHOWN = 40
"""What a screen holds; longer output is cut there."""

EXAMPLES = {
    "abort_after_fatal_error": "k20-expired/logs/client-settle-a.log",
    "aborted_by_client": "k39-client-aborts/broker-1",
    "api_misuse": "pages/java/closed_producer_used_again_by_pool.md",
    "atomicity_violation": "k4-admin-abort/broker-1",
    "broker_bug": "pages_later/broker-log/npe_in_append_after_upgrade_with_compression.md",
    "broker_unreachable": "k39-unresolved/logs/client-telemetry.log",
    "client_bug": "f-other-clients/logs/client-kpy-late.log",
    "commit_outcome_unknown": "k39-commit-unknown/logs/client-payments.log",
    "committed_but_unreadable": "k39-codecs/broker-1",
    "concurrent_transactions_storm": "c3-storm/logs/client-transfers-restarted.log",
    "coordinator_unavailable": "c3-unavailable/logs/broker-1",
    "damaged_index": "pages/broker-log/snapshot_crc_wrong_after_power_cut.md",
    "duplicate_sequence": "pages/dump/idempotent_record_stored_twice_after_retry.md",
    "fenced_by_group_generation": "k25-eos-groups/logs/client-etl-new-a.log",
    "fenced_by_new_instance": "k39-fenced",
    "hanging_transaction": "answers/hanging",
    "inconsistent_transaction_state": "pages_later/broker-log/coordinator_cache_of_state_partition_already_exists.md",
    "log_directory_failed": "pages/broker-log/lvm_remounted_read_only.md",
    "misconfiguration": "answers/limit",
    "open_transaction": "k39-open/broker-1",
    "partition_verification_failed": "k4-partition-verification/logs/client-settlement.log",
    "pending_offset_commit": "answers/waiting",
    "producer_epoch_exhausted": "k4-overflow/broker-1",
    "producer_id_collision": "pages/dump/two_ids_share_one_producer_number.md",
    "producer_restarted_empty": "pages/java/epoch_back_to_zero_after_cluster_rebuild.md",
    "producer_state_expired": "pages/broker-log/retention_removed_last_records_of_producer.md",
    "read_committed_blocked": "k39-open/broker-1",
    "sequence_gap": "k28-sequence/logs/client-meters.log",
    "shared_producer": "k4-shared-producer/logs/client-invoicing.log",
    "silent_failure": "k4-silent-failure/logs/client-quotes.log",
    "stuck_prepare": "c3-stuck-prepare/broker-*",
    "transaction_timed_out": "k39-timeout/broker-1",
    "transactional_id_expired": "k20-expired/broker-1",
    "unexplained_failure": "pages/java/ci_run_fatal_batches_with_fetcher_noise.md",
    "unresolved_sequence": "k24-unresolved/logs/client-orders.log",
    "unstable_transactional_id": "k39-unstable-id/broker-1",
    "zombie_coordinator": "pages/dump/marker_with_lower_coordinator_epoch_follows.md",
}
"""Evidence by rule, below fixtures/."""


def rule_example(rule_id: str) -> str:
    """Return the section of a rule's page: where the evidence is from, a pasted text itself, and the diagnosis."""
    below = EXAMPLES[rule_id]
    paths = " ".join(str(path.relative_to(ROOT)) for path in sorted(FIXTURES.glob(below)))
    command = f"kafkatx diagnose {paths} --rule {rule_id}"
    if printed(command).count("\n") > LINES_SHOWN:
        command += f" | head -{LINES_SHOWN}"
    return f"## Example\n\n{origin(FIXTURES / below)}\n\n```console\n{example(command)}```\n"


def origin(evidence: Path) -> str:
    """Return what is known of the evidence, with a pasted text in full."""
    shown = evidence.relative_to(ROOT)
    if evidence.suffix == ".md":
        text = evidence.read_text().rstrip("\n")
        return f"No recorded case shows this rule; a text as people paste it does, `{shown}`:\n\n````text\n{text}\n````"
    case = FIXTURES / evidence.relative_to(FIXTURES).parts[0]
    about = case / "case.json"
    if not about.exists():
        return f"What tools answered of a recorded cluster, `{shown}`:"
    told = json.loads(about.read_text())
    return f"Recorded with Kafka {told['kafka']}, `{case.relative_to(ROOT)}`. What was done: {told['about']}"
