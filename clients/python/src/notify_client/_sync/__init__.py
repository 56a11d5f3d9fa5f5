"""The client for threads: generated from `_async`."""
