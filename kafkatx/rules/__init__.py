"""One file a rule: facts, `find`, words; called as `kafkatx explain` and docs/rules call it. Pure.

Not rules    registry: finds them all and asks them; docstring: reads their pages.
Parts        of a long rule lie in a folder by subject; aborted_without_id (of aborted_by_client), unstable_in_lists and
             unstable_in_pages (of unstable_transactional_id) beside it, since JSON's schema has their names.
Of several   answers/: what tools said of a cluster, whichever rule it is evidence of; candidates/: causes of a failure
             that is left open.
"""
