"""Flower's settings, read by `flower --conf`. Names in lower case are Flower's own options.

Flower can shut workers down and revoke tasks, so it never starts without a password: with none, it
would show all of that to everybody. Tasks carry ids only, so Flower has no message to show. It
reads the broker's URL and its own password, and needs no other setting of the service.

Every page but `/healthcheck` asks for the password, `/metrics` too, which Flower leaves open.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sys
from http import HTTPStatus

from flower.views import BaseHandler
from flower.views.monitor import Metrics
from tornado.web import HTTPError, authenticated

_user = os.environ.get("NOTIFY_FLOWER_USER", "").strip() or "operator"
_password = os.environ.get("NOTIFY_FLOWER_PASSWORD", "").strip()
if not _password:
    sys.exit("NOTIFY_FLOWER_PASSWORD is missing: Flower does not start without a password.")

if not f"{_user}{_password}".isascii():
    sys.exit("NOTIFY_FLOWER_USER and NOTIFY_FLOWER_PASSWORD must be ASCII, which Flower compares.")


_password_given = BaseHandler.get_current_user


def _who(handler: BaseHandler) -> object:
    """Return who asks, as Flower knows it.

    Raises:
        HTTPError: 401, also where Flower fails to compare a password beyond ASCII.
    """
    try:
        return _password_given(handler)
    except TypeError:
        raise HTTPError(HTTPStatus.UNAUTHORIZED) from None


BaseHandler.get_current_user = _who
Metrics.get = authenticated(Metrics.get)
basic_auth = [f"{_user}:{_password}"]
# The same after a restart, so that nobody has to sign in again; another one with another password.
cookie_secret = hmac.digest(_password.encode(), b"flower cookie", hashlib.sha256).hex()
max_tasks = 10_000
