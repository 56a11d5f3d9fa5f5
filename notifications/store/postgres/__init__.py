"""Postgres: the rows.

    running       db (SQL by name), copy_text, id_ranges, locks, session_settings, disk
    writing       transitions (the only code that writes a status), inserts, claims, attempts
    reading       reads, timelines, search, backlog
    recipients    recipients, contact_addresses, dead_contacts, suppressions, short_links, erasure
    sensitive     secret_variables (encryption), late_encryption (of what became sensitive later)
    accepting     idempotency, api_keys, ordering_queues, fair_queue
    upkeep        partitions, dead_letters, periodic_tasks, sweep_runs, alerts, audit, host_clock

`sql/` has one statement a file; its head says what the statement locks and which index serves it.
"""
