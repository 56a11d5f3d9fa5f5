"""Status webhooks: producers' endpoints learn of status changes, as Standard Webhooks says.

    change feed --(sweep webhooks)--> webhook_message --(sweep tell)--> POST to the endpoint

The table of events is the outbox: the transaction of a status change writes nothing more, and the
path of a delivery pays nothing. `fan_out` reads the change feed from a stored position in the order
of the commits, and makes a message for each endpoint that wants the change. The id of a message is
computed from endpoint and event, so a repeated run makes no second message, and a replay sends the
same ids again.

The sweep `tell` claims due messages, calls the endpoints and settles. A worker that dies between
the call and the settle leaves a lease, and the next claim repeats the call with the same
`webhook-id`. An endpoint has a share of calls in flight, and one call while calls fail, so an
endpoint that hangs delays no other endpoint. The URLs of a producer's requests share one endpoint.
The order of messages is not guaranteed, because calls are concurrent and are repeated:
`occurred_at` and the order of the change feed decide.

`tell` has a separate queue, which a separate worker consumes in production. On one machine
the worker for `ops` consumes both, with further threads, because a further process would take 100
MiB and would be idle most of the time.

Messages of a `paused` endpoint wait; a `disabled` endpoint (by the producer, by an operator, or
by a 410) gets no messages. `NOTIFY_DELIVERY=dry_run` calls no
endpoint, so the copy of a database tells no producer.

    endpoints   create, change, rotate the secret, replay, send a test event
    fan_out     change feed -> messages
    body        the request of a message
    calls       the calls and their retries
"""
