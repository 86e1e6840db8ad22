"""What pictures show, as plain data: lanes of an id, stretches of a partition's offsets, all ids at a glance."""
