"""What `collect` takes of the evidence: about whom, which files, which lines, and the archive they are packed in."""
