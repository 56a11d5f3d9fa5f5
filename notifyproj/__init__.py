"""Wiring of the product; the rules about notifications are in `notifications`.

Environment, Django settings, the Celery app, URLs, WSGI, logging; `devstack`, which runs the whole
product on one machine.
"""
