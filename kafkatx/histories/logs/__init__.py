"""Logs interpreted: clients, clocks, outages, settings, and what they witness of transactions.

Model     log_model, made by build: clocks first, then clients; once: what is worked out of it a single time.
Clients   clients: rebuilt from lines; client_instance: a life of one; line_owners, owner_candidates: whose a line is;
          client_starts, begins: how they start; failures: what went wrong; settings: what they ran with; told_ages,
          frameworks_named: what frameworks say of their transactions.
Witness   witnesses, of broker_witnesses, client_witnesses and instance_witnesses: what logs saw of ends; ends: what
          they are laid beside; corroboration, asof_join: how; fencings: takeovers by logs alone; testimony: people.
Outages   broker_outages, of connection_failures and retries, seen by observers (observer_stalls) and own_logs.
"""
