"""Text to rows: dump output, console and admin tools, logs of clients and brokers, settings."""
