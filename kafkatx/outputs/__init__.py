"""From result objects to text and JSON."""
