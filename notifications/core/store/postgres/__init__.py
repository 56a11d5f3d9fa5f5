"""Postgres: the rows.

    statements    backend (Django's, with sessions that refuse a commit without its standby),
                  db (SQL by name), arrays, copy_text, insert_texts, id_ranges, locks,
                  locked_rows, session_settings, slots, thread_session, time_limit, durable_reads,
                  db_errors, disk, session_limit
    deliveries    transitions (the only code that writes a status), inserts, claims, attempts,
                  withdrawals, hold_checks, dead_letters, replay_letters (of replay jobs)
    reads         reads, replica (reads from the read replica), timelines, search, activity,
                  change_feed, rollups, sent_beside, plot_annotations
    lanes         backlog, lane_work, lane_lag, unreachable, service_levels
    recipients    recipients, new_recipients, recipients_by_address, contact_addresses,
                  contact_book, contacts_by_address, dead_contacts, device_owners,
                  merged_recipients, opted_out_contacts, suppressions, preferences, short_links,
                  erasure
    sensitive     secret_variables (encryption), late_encryption (of values stored earlier)
    accept        idempotency, packed_responses, api_keys, token_revocations, ordering_queues,
                  fair_queue
    broker        publish (ids of committed rows)
    bulk_jobs     bulk_job_expansions
    webhooks      webhook_messages
    operators     alerts, fallbacks, looks, audit, role_groups, second_factors
    upkeep        partitions, past_days, row_retention, periodic_tasks, sweep_runs, sweep_work,
                  host_clock, unapplied_migrations

`sql/` has one statement per file; the head of the file names the locks and the index.
"""
