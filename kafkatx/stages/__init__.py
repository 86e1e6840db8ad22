"""The steps that every engine runs: facts to models, models to findings, files to tables. Engines say where."""
