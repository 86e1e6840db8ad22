"""Commits and aborts that were given up before the coordinator had answered."""
