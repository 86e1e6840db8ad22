"""Logs of clients and brokers: what a line is, what it says, what stands under it."""
