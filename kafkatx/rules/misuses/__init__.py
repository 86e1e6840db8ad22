"""Calls in a state that does not allow them: what is said of each kind."""
