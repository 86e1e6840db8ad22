"""Lines as Kafka's tools print them, of every release: their shapes and fields, and what pasting did to them undone.

Unpaste   pasted: lines of tools; logged: lines of logs; letters, elisions: what stands for what; joining: lines that
          were broken in two.
Read      line_kinds: what a line is; tool_lines: lines of a tool, one by one; dump_lines: a line of kafka-dump-log in
          its fields, by eras; contents: key and value of a record; runs: many batches at once, by a kernel.
Answers   named_cells, stable_offsets: what tools and clients print beside tables.
"""
