"""What kafka-dump-log printed, and what of it is misprinted."""
