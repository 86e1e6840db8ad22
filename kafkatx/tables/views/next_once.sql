-- Each fact of `next` once: of all copies and runs the row that stands.
SELECT capture, cluster_id, broker_id, path, number, what, why, place, command, decides, run_id, exported_at
FROM (
    SELECT *, rank() OVER (
        PARTITION BY capture, what, place
        ORDER BY exported_at DESC, run_id DESC
    ) AS place_among_runs
    FROM next
    WHERE is_canonical
) AS ranked
WHERE place_among_runs = 1
