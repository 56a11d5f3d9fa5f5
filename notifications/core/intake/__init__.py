"""Intake: from a request to committed rows, and to ids on the broker.

    accept ──> validation ──> plan ──> idempotency_keys ──> rows (one commit)
                                                                   │
                                        store.postgres.publish  <──┘

    accept                the entry points: a request, a list of requests, or a batch
    validation            checks requests against recipients, templates and routes
    variable_checks       refuses missing and wrong variables
    plan                  builds the rows and the response of a valid request
    idempotency_keys      separates new requests from repeats of earlier requests, by their results
    new_rows              inserts the rows of new requests, all or none
    attachments           finds, checks and links the uploaded files of requests
    urls                  refuses URLs that an inbox does not open or the service must not call
    registration          registers recipients of requests with addresses
    checks                refuses plans; features have the checks
    sms                   refuses SMS with too many segments, or to a country that is not allowed
    rejections            logs refused requests for operators
    held_keys             limits the wait for a key that another transaction holds
    group_commit          lets concurrent requests share a transaction
    helper_threads        does the work that no other thread waits for
    accept_metrics        counts accepted notifications, once a transaction
    contact_changes       limits contact changes, and notifies the old address

A 2xx response follows the commit, so accepted requests survive a crash of every process. A failed
publish loses nothing, because the relay publishes due rows.
"""
