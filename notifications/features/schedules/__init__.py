"""Schedules: recurring notifications, each by a rule of RFC 5545.

    changes       create, change, pause and delete schedules
    occurrences   create the notifications of coming occurrences
    sweep         process due schedules
    rules         the recurrence rule, and the local times at which a notification recurs

The tables `Schedule` and `Occurrence` are in the core: an erasure deletes the schedules of a
recipient, late encryption moves their sensitive variables, and `GET /v1/me` counts schedules.
"""
