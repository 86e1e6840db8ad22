"""The loops over data. Each is one plain function, and names the declaration it must equal.

Engine    engine: a kernel, plain or compiled; compiled, compiling, native_calls, kept_kernels: machine code that is
          kept and called without numba.
Rows      rows: the types of all rows; growing, packed, packing, moves: room for them; distinct, ordering, interning,
          repetitions: which are alike.
Bytes     bytes, loads: numbers out of a buffer; crc32c, crc32c_instructions; payloads: what codec_libraries decompress
          by codec_frames, or snappy.
Segments  batches, messages: headers; stepping: headers alone; records, record_columns, record_counts: what is in
          them; transaction_log, offset_commits: records of internal topics.
Folds     transactions: coordinator's rows; spans, sequences: data; matching: both; plain: what is like all others.
Logs      literals, by fingerprints or grams: lines that hold one; held_texts: which; templates: lines taken apart;
          event_columns: events of them.
Dumps     dumped_batches, dumped_states, dumped_old_states: read, by dumped_words and message_bytes; dump_lines,
          dump_states: printed, by dump_words and printing.
"""
