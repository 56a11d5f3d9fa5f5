"""Delivery: from a claimed list of ids to settled rows.

    deliver ─┬─ claim            (store.postgres.claims) a lease on each row
             ├─ ordering         is it this delivery's turn?
             ├─ gates            may the delivery leave now?
             ├─ frequency_caps   is the recipient's cap reached?
             ├─ routing          by which providers?
             ├─ admission        can the provider take more now?
             ├─ render           the text; unsubscribe_links, webhook_signing
             ├─ send             the call, in waves (in_flight: permits)
             ├─ failover         the next provider, where no message was sent
             └─ settle           the outcome (provider_health: of the provider)

    claimed        a claimed delivery with all that is needed to send it
    batch          one claim on its way through the steps
    withholding    what is not kept of answers and errors that can quote a sensitive variable
    rescue         deliveries of a worker that died, back to the queue

Every step takes a list. No step holds a transaction or a row lock during a provider call: claim
(commit), send, settle (commit). A step that dies leaves rows with a `due_at`, and a sweep picks the
rows up; a move is guarded by the status that it expects, so a step may run twice.

A delivery has no column `notification_id`: its id tells the notification (`rules.ids`).
"""
