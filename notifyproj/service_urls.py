"""URLs of database, read replica and Valkeys, with passwords from separate variables.

`DATABASE_URL=postgresql://app@postgres/notify` and `DATABASE_PASSWORD=p@ss/word` make one URL with
the password encoded, so that a password may hold any character and no file repeats it in a URL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

PASSWORDS: Final[Mapping[str, str]] = {
    "DATABASE_URL": "DATABASE_PASSWORD",
    "DATABASE_REPLICA_URL": "DATABASE_REPLICA_PASSWORD",
    "REDIS_URL": "REDIS_PASSWORD",
    "CELERY_BROKER_URL": "CELERY_BROKER_PASSWORD",
}
"""Variable of a URL -> variable of the URL's password."""

_FOREIGN: Final[Mapping[str, str]] = {
    "BROKER_URL": "Celery's programs would use another broker than the web processes",
    "CELERY_BROKER_READ_URL": "a worker would read from another broker than the publishers use",
    "CELERY_BROKER_WRITE_URL": "a worker would publish to another broker than the web processes",
    "RESULT_BACKEND": "the service stores no results of tasks",
    "CELERY_RESULT_BACKEND": "the service stores no results of tasks",
}
"""Variables of Celery that change the servers behind the settings -> the consequence."""


def foreign_variables(environ: Mapping[str, str]) -> list[str]:
    """Return a line for each variable of Celery that would win over CELERY_BROKER_URL."""
    return [
        f"{name} is a variable of Celery, and {consequence}: remove it; CELERY_BROKER_URL names the"
        " broker."
        for name, consequence in _FOREIGN.items()
        if environ.get(name, "").strip()
    ]


def service_url(environ: Mapping[str, str], name: str) -> str:
    """Return a URL with its password; empty: the URL is not set.

    A password in the URL has precedence over the variable.
    """
    url = environ.get(name, "").strip()
    password = environ.get(PASSWORDS[name], "").strip("\r\n")  # the end of a file's last line
    parts = urlsplit(url)
    # libpq's form `postgresql://user@/notify?host=db1,db2` may have no host before the path.
    has_server = bool(parts.netloc) or "host=" in parts.query
    has_password = bool(parts.password) or "password=" in parts.query
    if not url or not password or has_password or not has_server:
        return url
    user, _, host = parts.netloc.rpartition("@")
    netloc = f"{user.removesuffix(':')}:{quote(password, safe='')}@{host}"
    return parts._replace(netloc=netloc).geturl()


def fault_of_password(url: str) -> str:
    """Return the fault of a URL with a password that ends the host's part early, else "".

    `redis://:p/w@state/0` names the host "p", and the rest of the password is a path.
    """
    parts = urlsplit(url)
    is_cut = "@" in url.partition("://")[2].removeprefix(parts.netloc)
    if is_cut and "@" not in parts.netloc:
        return (
            "has /, ? or # in the password: write %2F, %3F or %23, or give the password by the"
            " variable of its own"
        )
    return ""


def with_passwords(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the passwords inside the URLs."""
    urls = {name: service_url(environ, name) for name in PASSWORDS}
    return {**environ, **{name: url for name, url in urls.items() if url}}
