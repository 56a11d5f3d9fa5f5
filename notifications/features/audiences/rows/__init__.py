"""Audiences: the recipients of an expression, in pages of ascending ids.

conditions    a condition to SQL; values are parameters only
compiled      an expression to the FROM and WHERE of a statement, from the smallest table
resolve       names of topics and saved audiences to ids and expressions
members       pages, bounds and timezones of an audience
estimates     the size of an audience, exact or by a sample
topics        topics and subscribers
recipient_lists  uploads and snapshots
"""
