"""Scheduling: later notifications and quiet hours.

    release     queues scheduled rows, and held rows when they are due
    reschedule  changes the time of a scheduled notification
    cancel      stops a notification before the send
    lifetimes   the lifetime of a message after a hold for a digest

The sweeps call `release`; requests call the other modules.
"""
