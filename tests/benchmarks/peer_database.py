"""The database of a peer, by Django's settings: BENCH_DATABASE has the URL."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit


def databases(**options: object) -> dict[str, dict[str, Any]]:
    """Return Django's DATABASES of the peer, with further options of the database."""
    url = urlsplit(os.environ["BENCH_DATABASE"])
    return {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": url.path.strip("/"),
            "HOST": url.hostname,
            "PORT": url.port,
            "USER": url.username,
            "PASSWORD": url.password,
            **options,
        }
    }
