"""Bulk jobs: one message to an audience, in pages, at a rate."""
