"""Pure decisions: no I/O, no clock, no random draw. `now` and every random draw are arguments.

Modules:

    deliveries    states, transitions, reasons, outcomes, unanswered, retries, suspects, ordering,
                  fallback, withdrawals, client_receipts, webhook_events, feed_position
    lanes         lane, lane_lag, channels, routing, switches, service_levels, reach
    recipients    allowed, suppression, preferences, inbox_states, in_app, phone, countries,
                  recipient, addresses, attributes, recipient_lists, stored_audiences
    bulk jobs     bulk_job: states and counts, which tables, webhooks and costs use
    requests      request, request_fields, request_faults, in_app_fields, attachments, problems,
                  sensitive, ids, schedule_limits, accepted_answer
    money         prices
    rights        scopes, access, roles, recipient_tokens, signed_token, origins, single_sign_on
    operators     alerts, alert_causes, alert_notices, alert_links, alert_thresholds, audit_facts,
                  dead_letter_filter, redaction, masking, rollups, row_retention,
                  csv_lines, csv_reader, connect_lines, replica_lag
    brands        brand, colors
    shared        described, storable_texts

Packages:

    rate_limits   breakers, rates, frequency caps, concurrency
    times         quiet hours, wall clocks
    language      the language of templates: syntax, formats, locales, variables
    texts         texts of a channel: mail, SMS, push
    templates     the content of a version: files, differences, previews, objections

`templates` uses `texts`, `texts` uses `language`, and never back.
"""
