"""Settings as they stand in files and in blocks that programs print."""
