"""Bulk jobs: one message to an audience, expanded in pages, at a rate.

figures       totals, statuses, progress, rate and expected end of a job
pace          the time of each message
request       the body of a new job
states        the states of a job
variants      which recipient gets which variant, and who gets no message
"""
