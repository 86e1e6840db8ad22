-- Each fact of `batches` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, topic, partition, base_offset, last_offset, record_count,
       magic, codec, is_transactional, is_control, timestamp_type, has_delete_horizon, leader_epoch,
       producer_id, producer_epoch, base_sequence, last_sequence, base_timestamp, max_timestamp, crc,
       crc_valid, size, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY topic, partition, capture, base_offset
        ORDER BY leader_epoch DESC NULLS LAST, record_count DESC NULLS LAST, exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM batches
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
