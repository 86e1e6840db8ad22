"""Ids that the coordinator forgot: what records show of them, and what their clients do."""
