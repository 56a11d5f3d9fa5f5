"""Pure decisions: no I/O, no clock, no random draw. `now` and every random draw are arguments.

    a delivery    states, transitions, reasons, outcomes, unanswered, retries, suspects, ordering
    its way       lane, channels, routing, allowed, digest, suppression, client_receipts
    rate_limits   circuit_breaker, token_bucket, frequency_caps, concurrency
    a request     request, problems, sensitive, ids, phone, keywords, signed_token
    shared        described
    bulk_jobs     one message to an audience: states
    audiences     expressions on recipients: parse, canonical form, attributes
    operators     alerts, dead_letter_filter, redaction

    times         quiet hours, wall clocks, recurrence
    language      what templates are written in: syntax, formats, locales, variables
    texts         a text as its channel takes it: mail, SMS, push
    templates     a version's content: files, differences, previews, objections

`templates` uses `texts`, `texts` uses `language`, and never back.
"""
