"""Clients whose log says nothing aloud of what failed."""
