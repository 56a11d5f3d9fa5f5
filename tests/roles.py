"""The database's roles as compose makes them, on a server of the tests."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import psycopg

from tests.clock import ROOT

PASSWORDS: Final = {"owner": "owner's p@ss/word:%41", "app": "app's p@ss/word:%41?#"}
"""Any password works, wherever it has to be written."""


def make(url: str) -> None:
    """Run roles.sql as the superuser of this URL."""
    with psycopg.connect(url, autocommit=True) as link:
        for role, password in PASSWORDS.items():
            link.execute("SELECT set_config(%s, %s, false)", [f"notify.{role}_password", password])
        link.execute((ROOT / "docs" / "compose" / "roles.sql").read_bytes())


def settings(url: str, role: str) -> dict[str, str]:
    """The variables of a process that signs in to the same database as `role` (owner or app)."""
    parts = urlsplit(url)
    netloc = f"notify_{role}@{parts.hostname}:{parts.port}"
    address = parts._replace(netloc=netloc).geturl()
    return {"DATABASE_URL": address, "DATABASE_PASSWORD": PASSWORDS[role]}
