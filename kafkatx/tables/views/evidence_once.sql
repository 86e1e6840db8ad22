-- Each fact of `evidence` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, position, finding_id, number, topic, partition, record_offset,
       event_time, text, line, is_against, crc_valid, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY capture, finding_id, number
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM evidence
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
