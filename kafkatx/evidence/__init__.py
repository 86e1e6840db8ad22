"""What we were given: detection by content, captures, coverage."""
