"""Intake: from a request to committed rows, and to ids on the broker.

    accept ──> validation ──> plan ──> idempotency_keys ──> rows (one commit) ──> publish

    accept                the entry: a request, a list of requests, or a batch
    validation            each request against recipients, templates and routes
    plan                  the rows of a valid request
    idempotency_keys      which requests are new, and the first answers to the others
    registration          recipients of requests that give addresses
    explanations          what the answer adds: skipped channels, warnings, the recipient
    rejections            the operators' log of refused requests
    group_commit          concurrent requests share one transaction
    publish               ids of committed rows go to the broker
    contact_changes       limits on contact changes, and the notice to the old address

A 2xx is answered after the commit, so it survives a crash of every process. A publish that fails
loses nothing: the relay publishes rows that are due.
"""
