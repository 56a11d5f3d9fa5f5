"""The way of a notification, one verb a file.

    accept ──> publish ──> deliver ─┬─ claim     (store.claims) a lease on each row
                 ^                  ├─ ordering  is it this delivery's turn?
                 │                  ├─ gates     may the delivery leave now?
                 │                  ├─ cap       is the recipient's frequency cap reached?
                 │                  ├─ route     by which providers?
      sweeps ────┤                  ├─ admit     can the provider take more now?
                 │                  ├─ render    the text
                 │                  ├─ send      the call, in waves (in_flight: permits)
                 │                  ├─ fail over the next provider, where no message was sent
                 │                  └─ settle    the outcome (health: of the provider)
                 │
        release, rescue, replay: back to queued   confirm: receipts   digest: merged holds
        check, plan, keys: what accept stores     sample: a test send of a draft template
        cancel, reschedule, arrange, recur: the producer's changes and schedules
        unsubscribe, inbound: opt-outs            suppression_files: CSV in and out
        signing: secrets of webhook contacts      withheld: what is not kept of answers and errors

Every step takes a list. No step holds a transaction or a row lock during a provider call: claim
(commit), send, settle (commit). A step that dies leaves rows with a `due_at`, and a sweep picks the
rows up; a move is guarded by the status that it expects, so a step may run twice.

A delivery has no column `notification_id`: its id tells the notification (`rules.ids`).
"""
