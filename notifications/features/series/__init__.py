"""Series: several messages to a recipient over days, with waits and conditions.

    versions      create, change, publish, pause, resume and archive a series
    programs      the compiled steps of published versions
    enrolments    enrol recipients, and end an enrolment
    events        store custom events; enrol by trigger events and wake waiting enrolments
    steps         continue due enrolments: facts, messages, new positions
    figures       the number of enrolments by state and step
    event_rows    the table of custom events

    POST .../enrolments ──> series_enrolment <── trigger ── custom_event <── POST /v1/events
                                   │ due_at                      │
               sweep `series` ─────┴────────── wakes ────────────┘
                                   │
                       intake.accept (same transaction)

A message is accepted in the transaction that moves the enrolment to the next step, so a killed
process leaves both or none, and the row lock of the enrolment keeps a second sweep out: each step
sends one message. The idempotency key of the message names the enrolment and the step.

An event is committed before the sweep handles it. The wake waits for the lock of an enrolment that
is being continued, and makes the enrolment due again after the commit; so the next step
sees an event that arrives during a step.
"""
