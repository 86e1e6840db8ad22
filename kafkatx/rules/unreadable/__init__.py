"""Why committed records can't be read: one reason a file."""
