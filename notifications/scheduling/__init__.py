"""Scheduling: notifications for later, recurring schedules, quiet hours, digests.

schedule_changes    create, change and cancel recurring schedules
occurrences         the notifications of a schedule's next occurrence
release             rows whose time has come, back to the queue, along a ramp
reschedule          another time for a notification that has not left
cancel              the end of a notification that has not left
digests             held notifications of one recipient, merged into one
"""
