"""Aborts by clients: why a client aborted, what its log shows of it, and aborts by nobody known."""
