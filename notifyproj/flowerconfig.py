"""Flower's settings, read by `flower --conf`. Names in lower case are Flower's own options.

Flower can shut workers down and revoke tasks, so it never starts without a password: with none, it
would show all of that to everybody. Tasks carry ids only, so it has no message to show.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sys

from notifyproj import environment

_settings = environment.load(os.environ)
if not _settings.flower_password:
    sys.exit("NOTIFY_FLOWER_PASSWORD is missing: Flower does not start without a password.")

basic_auth = [f"{_settings.flower_user}:{_settings.flower_password}"]
# Fixed, so that a restart signs nobody out, and derived, so that it is no further secret to keep.
cookie_secret = hmac.digest(_settings.secret_key.encode(), b"flower", hashlib.sha256).hex()
max_tasks = 10_000
