"""Postgres: the rows.

    running       db (SQL by name), arrays, copy_text, id_ranges, locks, session_settings, disk
    writing       transitions (the only code that writes a status), inserts, claims, attempts
    reading       reads, timelines, search, backlog
    recipients    recipients, contact_addresses, dead_contacts, suppressions, short_links, erasure
    sensitive     secret_variables (encryption), late_encryption (of values stored earlier)
    accepting     idempotency, api_keys, ordering_queues, fair_queue
    publishing    publish (ids of committed rows, to the broker)
    upkeep        partitions, dead_letters, periodic_tasks, sweep_runs, alerts, audit, host_clock

`sql/` has one statement per file; the head of the file names the locks and the index.
"""
