"""Wiring only: nothing here decides anything about a notification.

Environment, Django settings, the Celery app, URLs, WSGI, logging, and the embedded stack.
"""
