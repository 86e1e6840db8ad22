"""Checks of settings: against each other, the brokers and what happened."""
