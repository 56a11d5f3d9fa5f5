"""The HTTP API: what producers, operators' tools and providers call.

    request -> request_slots (a thread that waits for a client holds no slot)
            -> correlation (trace id, one log line)
            -> body_limits (size by path) -> address_limits (clients without a key)
            -> authentication (key, producer, mode) -> scope
            -> throttle (each write costs; each answer tells what is left)
            -> json_io (JSON in) -> schema (pydantic)
            -> idempotency (POST: the first answer to a key) -> etags (If-Match)
            -> one call into a stage or store/ -> json_io (JSON out)

    notifications  recipients  schedules  templates     one file per noun: its schemas, its views
    dead_letters  alerts  search  receipts  suppressions
    ..._schemas    the schemas of a noun that has many
    unsubscribe    the page behind the link in a mail, and one-click
    health         /healthz, /readyz
    metrics        /metrics, for Prometheus
    schemas        the words and answers that several of them share
    base_view      what all views share: scopes, limits, headers
    pagination     query strings and cursors
    throttle       what a call costs its producer
    idempotency    the first answer to a repeated POST
    etags          conditions of reads and writes
    deprecation    how an operation says that it will end
    me             the caller's own key
    problems       every refusal as RFC 9457 problem details, and the pages that its `type` leads to
    schema         the OpenAPI document, made from the same shapes that check the requests
    operations     what the document adds to each operation: scope, problems, headers, examples
    examples       the examples of every operation, which a test sends

The promises: a 2xx means that it is committed; no input makes a 5xx; another producer's objects are
as absent as those that never were. An operator's scopes (`operations:*`) see every producer, but
only the key's own mode.
"""
