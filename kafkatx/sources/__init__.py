"""Where bytes lie: folders and files. Names and bytes only."""
