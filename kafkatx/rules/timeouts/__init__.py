"""Transactions that timed out: what logs show of them, refusals without one, and words of both."""
