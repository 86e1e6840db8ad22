"""What we were given: detection by content, captures, coverage.

Met       inventory: every file and what it is taken for; item: one of them; claims: what the user says of a path;
          directories: who wrote one; text_items: the parts of a text; unread, swapped: what is left out; coverage: what
          became of each.
Captures  captures: the evidence of a cluster (clusters); joining: which texts and logs are of which, as belonging tells
          and looking finds out; run_copies: of runs of an export.
Plans     plans: what is known of a partition before it is read; checkpoint_claims, extents: by other files and names.
Reading   reading: a partition, all copies merged; file_reading: one file; stretches, parted: in pieces, by several
          cores; text_walk: a part of a text; file_entries, log_reading: small files, logs and settings.
Reach     offset_coverage: what is missing; log_marks, log_tails, text_ends: what is new since.
Results   verification: what `verify` found.
"""
