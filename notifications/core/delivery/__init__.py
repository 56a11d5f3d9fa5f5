"""Delivery: from a list of delivery ids, or a lane, to provider calls and stored outcomes.

    deliver ─┬─ claim            (store.postgres.claims; lane_claims: the due rows of a lane) takes
             │                   a lease on each row; deliveries that wait for an earlier delivery
             │                   of their key are marked
             ├─ gates            hold or stop deliveries: consent, quiet hours, expiry ...
             ├─ switches         hold deliveries that an operator's kill switch stops
             ├─ frequency_caps   hold or drop deliveries over the recipient's cap
             ├─ routing          chooses the providers
             ├─ admission        asks circuit breakers and rate limits of the provider
             ├─ render           writes the text; unsubscribe_links, preference_links,
             │                   mail_headers, mail_tracking, webhook_signing,
             │                   attached: files of e-mails
             ├─ send             calls the provider (call_reservations: money for the calls,
             │                   waves: waves of calls, in_flight: permits, answers: the way of
             │                   the outcomes)
             ├─ failover         passes failed deliveries to the next provider
             └─ settle           stores the outcome (provider_health: for the breaker,
                                 ended_contacts: dead addresses and opt-outs,
                                 refused_parts: waves of refused senders and templates,
                                 late_refusals: refusals after the lease; leaving: outcomes of
                                 a worker that stops while Postgres is away)

    claimed         a claimed delivery with its notification, contact and providers
    batch           the deliveries of one claim, and the decisions about them
    quiet_waits     waits for the end of the recipient's quiet times
    fall_back       opens the next channel of a fallback chain (confirm: waits for a receipt)
    push_addresses  push addresses that a recipient token may register
    withholding     removes text that can quote a sensitive variable
    rescue          settles deliveries of dead workers (evidence: the outcomes of their calls)
    lane_pauses     pauses a lane whose tasks raise errors whatever the delivery
    receipt_lookups accepted calls whose receipts the vendor tells when asked
    unclaimed       ends deliveries that no worker takes
    call_prices     the prices of provider calls
    call_log        the log lines of provider calls
    call_metrics    the metrics of provider calls and their traces

Every step takes a list. No step holds a transaction or a row lock during a provider call: claim
(commit), send, settle (commit). A step may fail at any point: its rows keep a `due_at`, and a sweep
takes due rows. A step may run twice: every status change names the status it expects.

The delivery id contains the notification id (`rules.ids`), so the table has no foreign key.
"""
