"""Clients in their fatal error state: what shows it, and the aborts that they made in it."""
