"""Bulk SQL and Redis scripts: every step takes a list, and one statement or one call serves it.

    running      db (SQL by name), copy_text, spans (ranges of ids), state (the state Redis)
    writing      transitions (the only code that writes a status), inserts, claims, attempts
    reading      reads, timelines, search, backlog, standings
    operators'   type_rules, routes, controls, retry_presets, producer_days (`fresh`: for a second)
    recipients   address_book, contacts, suppressions, short_links
    sensitive    vault (encrypted variables), sealing (of what became sensitive later)
    accepting    idempotency, keys (API keys), limits, ordering, fair_queue, templates/
    providers    breakers, departures, caps, ledger, tallies
    operators'   second_factors, sign_ins
    upkeep       partitions, dead_letters, periodic, sweep_runs, locks, alerts, host_clock, disk

`sql/` has one statement a file, which says what it locks and which index serves it; `lua/` has the
scripts of the state Redis.
"""
