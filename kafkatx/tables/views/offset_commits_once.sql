-- Each fact of `offset_commits` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, group_id, topic, partition, is_tombstone, committed_offset,
       leader_epoch, metadata, committed_at, expires_at, topic_id, is_transactional, producer_id,
       producer_epoch, offsets_partition, record_offset, timestamp, value_version, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY group_id, topic, partition, capture, offsets_partition, record_offset
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM offset_commits
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
