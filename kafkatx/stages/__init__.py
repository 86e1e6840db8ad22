"""The steps that every engine runs: facts to stories, stories to findings, files to tables. Engines say where."""
