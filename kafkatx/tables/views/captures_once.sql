-- Each fact of `captures` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, evidence_end, examined_from, examined_to, joined_because, fingerprint,
       brokers, broker_ids, releases, clients_behind_ms, clocks, transactions, transactional_ids, producers,
       groups_named, files, bytes, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY capture
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM captures
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
