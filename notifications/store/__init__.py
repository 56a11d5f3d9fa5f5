"""Bulk SQL and Redis scripts: every step takes a list, and one statement or one call serves it.

    db            running a named SQL file; deadlocks retried; transactions
    copy_text     rows as COPY reads them
    moves         the only code that writes a status, and the events that go with it
    inserts       accepting: COPY of notifications, deliveries, events
    idempotency   the first answer to a key
    reads         how a person can be reached; what a claimed delivery needs to be sent
    type_rules    what a type of notification means
    templates/    messages' templates: versions, from and to files, kept at hand in each process
    timelines     what API and admin show of a notification
    partitions    daily partitions: made ahead, dropped after retention
    dead_letters  letters and replay jobs
    disk          whether PostgreSQL had no room for a write
    sweep_runs    which sweep may run now
    alerts        raising once while it lasts
    keys          API keys: issued, recognised, scopes
    address_book  recipients, contacts and wishes as producers hand them in
    producer_days which clock counts for people whose timezone nobody knows
    contacts      addresses that a provider called dead
    suppressions  addresses that are not used, entered and undone
    opt_outs      one category more that a person does not want
    short_links   links that an SMS has room for, and their clicks
    search        finding a message by address, user or provider id
    backlog       what waits, by lane and by reason
    routes        which provider takes what, as admin says
    line          deliveries that wait for each other, in the order of acceptance
    vault         sensitive variables, sealed and wiped
    attempts      provider calls as rows
    state         the state Redis: client, scripts, what to do when it is away
    ledger        the sent-ledger
    limits        producers' rate limits
    caps          what each person was sent in the window of their cap
    breakers      what calls came to, told to all processes; how a breaker stands
    departures    may a batch leave now: breakers and buckets in one call
    tallies       what was held, dropped and released, for `/metrics`
    controls      what operators have set for providers

SQL lives in `sql/`, one statement a file that says what it locks and which index serves it; Lua in
`lua/`.
"""
