"""Batches that had been sent and were given up: what tells of them, and what went before."""
