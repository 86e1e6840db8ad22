"""Declarations of bytes (construct), one file a format, with versions and sources."""
