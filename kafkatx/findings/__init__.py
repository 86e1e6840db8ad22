"""What a finding is, what a rule is, and what rules share.

Core      finding, rule, fields: a finding, a rule, a finding as plain data; diagnosis, examined: the result, and how
          much was looked at; causes, conditions, grouping: which finding caused which, many alike as one.
Advice    next_evidence: what to bring; one_value: one value for a setting; outcome_remedies, open_no_more: what to do.
Failures  told_failures: what failed, from failure_kinds and protocol_errors, each once (told_twice); one_failure,
          said_by_failures, askers, plain_clients: what rules ask of them; accounts: what becomes of each;
          failed_tasks: who must start again.
People    told_by_people: words that decide; named_errors, spoken_causes: what only words tell.
Defects   known_defects, brokers_release.
Ends      ends, end_groups, lost_data: of transactions; unfinished_decisions: decided, without markers; ends_in_data,
          ends_in_logs: where no row is; outcomes: of those that a client does not know; open_spans: data without
          an end; kin_timeouts: of other ids of the job.
Refusals  elapsed: timeout or new instance, by time alone; private_ids: by the id alone; grants: who was given what.
Sends     expiries, given_up, refused_writes, sequence_breaks, unfinished_ends, endless_retries.
Clients   client_lines, windows, shared_prefixes, starting, abridged; leaders_clocks: by whose clock.
"""
