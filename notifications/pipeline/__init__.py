"""The way of a notification, one verb a file.

    accept ──> publish ──> deliver ─┬─ claim     (store.claims) a lease on each row
                 ^                  ├─ in order  whose turn is it?
                 │                  ├─ gates     may it leave now?
                 │                  ├─ cap       has the person had enough?
                 │                  ├─ route     by which providers?
      sweeps ────┤                  ├─ admit     can it take more now?
                 │                  ├─ render    in which words?
                 │                  ├─ send      in waves, the call itself
                 │                  ├─ fail over the next provider, where nothing was sent
                 │                  └─ settle    what became of it (watch: of its provider)
                 │
        release, rescue, replay: back to queued   confirm: receipts
        in flight: permits for provider calls
        digest: one notification in place of many that caps held back
        accept asks check what a request means, plan what to store of it, keys what is a repeat
        job: what is on its way   quiet: a gate's wishes   links: the short ones that render made
        sample: a test send of words still worked on   signing: the secrets of webhook contacts
        withheld: what is not kept of answers and exceptions
        cancel, reschedule, arrange (recur): the producer's word
        unsubscribe, inbound: the person's stop   suppression_files: many addresses in and out

Every step takes a list. No step holds a transaction or a row lock while a provider is called: claim
(commit), send, settle (commit). A step that dies leaves rows with a `due_at`, and the sweep picks
them up; running a step twice moves nothing twice, because every move is guarded by the status that
it expects.

The design leaves out one thing that was drawn: a column `notification_id` on deliveries with an
index. A delivery's id tells it (`rules.ids`), which saves an index entry on each of a delivery's
four updates.
"""
