"""What rules conclude from logs alone, and how lines of logs bear witness to rows."""
