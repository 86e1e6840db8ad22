-- Each fact of `findings` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, id, key, rule, verdict, severity, transactional_id, producer_id,
       producer_epoch, topic, partition, first_offset, last_offset, valid_from, valid_to, has_zone, count,
       subjects, who, title, summary, actors, steps, considered, caused_by, contributing, remedies, facts,
       candidates, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY capture, rule, key
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM findings
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
