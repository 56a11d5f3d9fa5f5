"""Scheduling: later notifications, quiet hours, digests.

    release     queues scheduled rows, and held rows when they are due
    reschedule  changes the time of a scheduled notification
    cancel      stops a notification before the send
    digests     merges held notifications of a recipient
    lifetimes   the lifetime of a message after a hold for a digest

The sweeps call `release` and `digests`; requests call the other modules.
"""
