"""Logs interpreted: clients, clocks, outages, settings, and what they witness of transactions."""
