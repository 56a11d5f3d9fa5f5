"""Bulk jobs: one message to an audience, expanded in pages, at a rate.

request       the body of a new job
states        the states of a job
"""
