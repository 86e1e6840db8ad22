"""The steps that every engine runs: facts to models, models to findings, files to tables. Engines say where.

Plan      tasks, packing: what there is to read, in tasks; naming: codes of names; read_ahead: on other cores.
Decode    decoding: stage one, files to facts; logs, log_marks, listings, capture_facts: what else is read.
Facts     facts, of the classes in fact_types; blocks, codec, fact_batches, fact_files: as bytes, rows and files.
Fold      folding, partitions: stage two; joining, joined_partitions, joining_here: data laid to the coordinator's rows;
          counting: what is plain.
Judge     models, judging: stage three; opening, placed, exported_files: places that findings name.
Passes    passes, suspects: of evidence too large to be read whole.
Tables    file_tables: which there are; table_files, file_walk: what is read for them; table_damage, table_diagnosis,
          table_growth, table_internal, table_interpreted, table_logs, table_segments, table_settings: their rows;
          seams: where stretches begin.
Export    exporting, export_tasks, export_packing: what tasks read; strands, whole_partitions, lone_copies: what need
          not meet; table_blocks, canonical, exported_rows: what must; parquet_parts, divided_parts: files; disk, stamp.
Exports   export_folders, export_manifest, run_names: what lies there; exports, exported: diagnosed; uniting: runs of
          one capture; collected: what `collect` takes.
"""
