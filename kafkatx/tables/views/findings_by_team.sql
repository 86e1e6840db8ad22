-- How many findings does each team have, by rule, and when was the last? A team is what its ids begin with.
SELECT regexp_extract(transactional_id, '^[^-_.]+', 0) AS team, rule, severity, count(*) AS findings,
       count(DISTINCT capture) AS captures, count(DISTINCT transactional_id) AS ids, max(valid_to) AS last_seen
FROM findings_once
WHERE transactional_id IS NOT NULL
GROUP BY regexp_extract(transactional_id, '^[^-_.]+', 0), rule, severity
