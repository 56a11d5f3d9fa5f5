"""Bulk jobs: a message to an audience, in pages, at a rate.

pace        the number of rows that a job may create now, and their due times
"""
