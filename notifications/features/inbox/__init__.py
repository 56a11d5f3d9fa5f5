"""The inbox: the in-app messages of each recipient, their marks, and live changes for clients.

    provider        the adapter of the channel in_app: adds items, and removes withdrawn ones
    rows            reads and writes of inboxes; lua/ has the scripts of their copies in Redis
    live            the process that streams changes
    actions         records pressed buttons
    opened          marks the item of an opened push as read
    reports         moves deliveries of items that the recipient saw or read
    reports_sweep   applies the reports
    sweep           ends snoozes, removes expired and old items

The core keeps the tables, because an erasure deletes their rows also without this feature, and the
texts and rules of the channel in_app, which templates and requests use.
"""
