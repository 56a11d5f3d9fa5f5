"""The URLs of PostgreSQL and of its read replica, read by libpq's own parser.

Each form of libpq works:

    postgresql://user:password@db/notify?sslmode=verify-full&sslrootcert=/etc/notify/ca.pem
    postgresql://user:password@db1:5432,db2:5432/notify    a primary and a standby
    postgresql://user:password@/notify?host=db1,db2        the same, with hosts as a parameter

With several hosts a session is opened to the host that takes writes (`target_session_attrs`); a
session of the read replica is opened to a standby.
Source: https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-CONNSTRING-URIS
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from notifyproj.service_urls import fault_of_password

_ENGINE: Final = "notifications.core.store.postgres.backend"
_SCHEMES: Final = ("postgresql://", "postgres://")
_MOST_PORT: Final = 65_535
_SESSION_ATTRS: Final = "target_session_attrs"
_WRITABLE: Final = ("read-write", "primary")
_SSL_MODES: Final = ("verify-full", "verify-ca", "require", "prefer", "allow", "disable")
_SYSTEM: Final = "system"
"""The value of `sslrootcert` for the authorities of the system."""
_BY_VARIABLE: Final = "give the password by DATABASE_PASSWORD"
_STANDBY: Final = ("standby",)
# A host that vanished closes no connection. Keepalives end a session that waits for an answer, and
# `tcp_user_timeout` a session whose statement the host never received, both after about 6 s.
_DEFAULTS: Final[Mapping[str, object]] = {
    "application_name": "notify",
    "connect_timeout": 3,
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 6_000,
}
"""Parameters of libpq that the URL leaves out; times in seconds, `tcp_user_timeout` in ms."""


def validate(url: str) -> str:
    """Return a URL that libpq reads and that names a host.

    Raises:
        ValueError: another scheme, no host or database, an invalid port, a part that libpq does not
            read, or sessions of a server without writes.
    """
    return _validate(url, session_attrs=_WRITABLE, other="without writes")


def validate_replica(url: str) -> str:
    """Return a URL as `validate` does, for sessions of a standby.

    Raises:
        ValueError: as `validate`, or sessions of a server that is no standby.
    """
    return _validate(url, session_attrs=_STANDBY, other="that is no standby")


def _validate(url: str, *, session_attrs: Sequence[str], other: str) -> str:
    if not url.startswith(_SCHEMES):
        raise ValueError(f"must begin with {' or '.join(_SCHEMES)}")
    parts = _parts(url)
    hosts = _items(parts, "host") or _items(parts, "hostaddr")
    if any("@" in host for host in hosts):
        raise ValueError(f"has @ in the password: write %40, or {_BY_VARIABLE}")
    if not all(hosts) or not hosts:
        raise ValueError(fault_of_password(url) or "has no host")
    ports = _items(parts, "port")
    if not all(port.isdecimal() and 1 <= int(port) <= _MOST_PORT for port in ports if port):
        said = f"has an invalid port; use a number up to {_MOST_PORT}"
        raise ValueError(fault_of_password(url) or said)
    if not parts.get("dbname"):
        raise ValueError("names no database; end the URL with /notify, or the name of yours")
    if len(ports) not in {0, 1, len(hosts)}:
        raise ValueError(f"has {len(hosts)} hosts and {len(ports)} ports; give each host its port")
    wanted = parts.get(_SESSION_ATTRS, session_attrs[0])
    if wanted not in session_attrs and not (wanted == "any" and len(hosts) == 1):
        raise ValueError(
            f"has a {_SESSION_ATTRS} that may give a server {other}; use {session_attrs[0]}"
        )
    _check_tls(parts)
    return url


def _check_tls(parts: Mapping[str, str]) -> None:
    """Check for values that libpq would refuse at each connection, as if the server were away.

    Raises:
        ValueError: an unknown `sslmode`, or a file that this process cannot read.
    """
    if parts.get("sslmode", "prefer") not in _SSL_MODES:
        raise ValueError(f"has an unknown sslmode; write one of {', '.join(_SSL_MODES)}")
    for name in ("sslrootcert", "sslcert", "sslkey"):
        file = parts.get(name, _SYSTEM)
        if file != _SYSTEM and not os.access(file, os.R_OK):
            raise ValueError(f"has an {name} that this process cannot read; check path and rights")


def settings_of(url: str, *, is_replica: bool = False) -> dict[str, Any]:
    """Return Django's settings of a database; OPTIONS has the parameters of libpq."""
    parts = _parts(url)
    if is_replica:
        parts.setdefault(_SESSION_ATTRS, _STANDBY[0])
    elif "," in parts.get("host", parts.get("hostaddr", "")):
        parts.setdefault(_SESSION_ATTRS, _WRITABLE[0])
    return {
        "ENGINE": _ENGINE,
        "NAME": parts.pop("dbname", ""),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "OPTIONS": {**_DEFAULTS, **parts},
    }


def _parts(url: str) -> dict[str, str]:
    """Return the parameters of a URL.

    Raises:
        ValueError: libpq does not read the URL. libpq's text is left out: it may quote a password.
    """
    try:
        parts: Mapping[str, Any] = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise ValueError(
            "is no URL that libpq reads; check the names of the parameters, and write reserved"
            " characters of a password as %40 (for @)"
        ) from None
    return {name: str(value) for name, value in parts.items() if value is not None}


def _items(parts: Mapping[str, str], name: str) -> list[str]:
    """Return the items of a comma list; empty for a parameter that is not given."""
    return parts[name].split(",") if parts.get(name) else []
