-- Each fact of `transaction_states` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, partition, record_offset, timestamp, transactional_id,
       is_tombstone, producer_id, previous_producer_id, next_producer_id, producer_epoch, next_producer_epoch,
       timeout_ms, state, topic_partitions, started_at, updated_at, client_transaction_version, value_version,
       leader_epoch, unknown_tagged_fields, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY transactional_id, capture, partition, record_offset
        ORDER BY leader_epoch DESC NULLS LAST, exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM transaction_states
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
