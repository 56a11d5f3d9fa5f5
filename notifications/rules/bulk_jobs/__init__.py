"""Bulk jobs: one message to an audience, expanded in pages, at a rate.

states        the states of a job
"""
