-- True if an active endpoint has a due message. Uses webhook_message_due, once for each endpoint.
EXISTS (
    SELECT FROM webhook_endpoint e
    WHERE e.state = 'active'
      AND EXISTS (SELECT FROM webhook_message m WHERE m.endpoint_id = e.id AND m.due_at <= now())
)
