"""Stand-ins for names and payloads: in names of files, in batches, in records of internal topics, in texts."""
