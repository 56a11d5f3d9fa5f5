"""Wiring of the product; the rules about notifications are in `notifications`.

Environment, Django settings, the Celery app, URLs, WSGI, logging; `all_in_one`, which runs the
processes of a small installation in one container; `devstack`, which runs the whole product on one
machine, with its servers.
"""
