"""Wiring only: nothing here decides anything about a notification.

Environment, Django settings, the Celery app, URLs, WSGI, logging; `esp`, the one provider whose
package needs Django; `devstack`, which runs the whole product on one machine.
"""
