"""The addresses of the database and of the two Valkeys, with passwords from variables of their own.

`DATABASE_URL=postgresql://app@postgres/notify` and `DATABASE_PASSWORD=p@ss/word` make one URL with
the password encoded, so that a password may hold any character and no file repeats it in a URL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

PASSWORDS: Final[Mapping[str, str]] = {
    "DATABASE_URL": "DATABASE_PASSWORD",
    "REDIS_URL": "REDIS_PASSWORD",
    "CELERY_BROKER_URL": "CELERY_BROKER_PASSWORD",
}
"""Variable of a URL -> variable of the password that belongs into it."""


def service_url(environ: Mapping[str, str], name: str) -> str:
    """Read one of the URLs, with its password. Empty when the URL is not set.

    A URL that names a password already keeps that one.
    """
    url = environ.get(name, "").strip()
    password = environ.get(PASSWORDS[name], "").strip()
    parts = urlsplit(url)
    if not url or not password or parts.password or not parts.netloc:
        return url
    user, _, host = parts.netloc.rpartition("@")
    netloc = f"{user.removesuffix(':')}:{quote(password, safe='')}@{host}"
    return parts._replace(netloc=netloc).geturl()


def with_passwords(environ: Mapping[str, str]) -> dict[str, str]:
    """Give the environment with the passwords inside its URLs."""
    urls = {name: service_url(environ, name) for name in PASSWORDS}
    return {**environ, **{name: url for name, url in urls.items() if url}}
