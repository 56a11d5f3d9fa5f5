"""Scheduling: later and recurring notifications, quiet hours, digests.

    schedule_changes  creates, changes and deletes recurring schedules
    occurrences       creates the notifications of coming occurrences
    release           queues scheduled rows, and held rows when they are due
    reschedule        changes the time of a scheduled notification
    cancel            stops a notification before the send
    digests           merges held notifications of a recipient
    lifetimes         the lifetime of a message after a hold for a digest

The sweeps call `occurrences`, `release` and `digests`; requests call the other modules.
"""
