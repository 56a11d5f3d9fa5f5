"""The HTTP API for producers, operators' tools and providers.

    request -> request_slots (a thread waiting for a client holds no slot)
            -> short_path (answers a usual POST /v1/notifications by its reply: replies)
            -> correlation (trace id, log line)
            -> body_limits (size by path) -> address_limits (clients without a key)
            -> authentication (key, producer, mode) -> scope
            -> throttle (rate limit of the producer)
            -> json_io (JSON in) -> schemas (pydantic)
            -> idempotency (POST) -> etags (If-Match)
            -> a call into a stage or store/ -> json_io (JSON out)

    notifications  recipients  templates     a module per resource: schemas, operations
    dead_letters  alerts  search  receipts  suppressions  analytics
    ..._schemas    the schemas of a noun that has many
    unsubscribe    the page behind the link in a mail, and one-click
    recipient_pages  style, headers and language of the pages for recipients
    embed          the web components, for the pages of other sites
    health         /healthz, /startupz, /readyz
    metrics        /metrics, for Prometheus
    schemas        the words and answers that several of them share
    base_view      what all views share: scopes, limits, headers
    operation      the declaration of an operation: path, access, schemas, examples
    resource       declarations of operations that list, read and change rows
    pagination     query strings and cursors
    csv_io         CSV in requests and answers
    throttle       the cost of a call
    idempotency    the stored response of a repeated POST
    etags          If-Match and If-None-Match
    deprecation    headers of deprecated operations
    me             the caller's own key
    contacts       contacts of a recipient
    push           the public key of web push
    recipient_access  one recipient's own data, for keys and recipient tokens
    cors           cross-origin calls of browsers
    client_receipts  receipts from the apps of recipients
    problems       errors as RFC 9457 problem details, and their help pages
    schema         the OpenAPI document, generated from the pydantic schemas
    operations     additions to the document: scope, problems, headers, examples
    examples       the type of an example, and its ids

A 2xx response means a committed write. No input causes a 5xx. An object of another producer is
answered with the same 404 as an unknown id. An operator's scopes (`operations:*`) see all
producers, in the mode of the key only.
"""
