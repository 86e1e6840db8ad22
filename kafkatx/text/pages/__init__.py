"""Pages cut into the parts that tools wrote, whatever pasting did to them.

Cut       parts: the parts of a text of any size; cutting: line by line; growing: a stretch while it grows; part: what
          comes of it.
Asked     likeness: what a line of no tool is like; naming: which file a stretch was printed from; incidents: of which
          incident it is (run_facts: of many batches at once); content: of which internal topic.
Whole     completeness: whether a dump's lines are all that there were.
"""
