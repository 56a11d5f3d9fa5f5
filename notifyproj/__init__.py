"""Wiring only: nothing here decides anything about a notification.

Environment, Django settings, the Celery app, URLs, WSGI, logging, the embedded stack, and `esp`:
the one provider whose package needs Django.
"""
