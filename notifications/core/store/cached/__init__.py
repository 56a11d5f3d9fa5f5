"""Caches of small tables that operators edit; an edit acts within two seconds.

`ttl_cache` keeps each table for a second in each process; `ttl_cache.forget` clears all caches.
`recipient_ids` keeps the ids of recipients, which do not change. `shared_answers` keeps
answers for all readers.

    producers     notification_types, retry_presets, producer_windows, topic_texts, attributes,
                  sms_countries
                  brands (of the feature that stores them)
    providers     provider_overrides (and routes), prices
    operators     switches, paused_lanes
"""
