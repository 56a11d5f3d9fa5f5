"""The fault of a server in words, from an error of a client: away, or there and refusing.

The words complete a sentence that begins with the server's name: "refuses the sign-in". No word of
the error is repeated, because an error may quote a URL. A Redis that drops keys has no error, so
its policy is asked for.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from typing import Final

import redis
from amqp.exceptions import AccessRefused, NotAllowed  # type: ignore[import-untyped]  # untyped
from kombu.exceptions import LimitExceeded

from notifications.core.rabbitmq import Blocked

AWAY: Final = "does not answer"
_FAULTS: Final[tuple[tuple[tuple[type[BaseException], ...], str], ...]] = (
    (
        (redis.AuthenticationError, AccessRefused),
        "refuses the sign-in: check the user and the password of the process",
    ),
    (
        (redis.exceptions.NoPermissionError, NotAllowed),
        "refuses a command to the user of the process: check the permissions of the user",
    ),
    ((redis.ReadOnlyError,), "takes no writes: it is a replica"),
    ((redis.exceptions.OutOfMemoryError,), "takes no writes: its memory is full"),
    ((LimitExceeded,), "answers slowly: all connections of the process wait for it"),
    ((Blocked,), "takes no messages: an alarm of its memory or disk blocks publishers"),
    (
        (ssl.SSLCertVerificationError,),
        "has a certificate that the process does not trust: check ssl_ca_certs in the URL",
    ),
)
"""The first entry with a type of the error or of a cause of the error decides."""
_MISCONF: Final = "MISCONF"
"""Beginning of the refusal of a Redis with `stop-writes-on-bgsave-error`; redis-py has no class."""
_NOT_SAVED: Final = "takes no writes: it cannot save a snapshot, so make room on its disk"
_OTHER_HOST: Final = "has a certificate for other host names: check the host in the URL"
_OTHER_HOST_CODES: Final = (62, 64)
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""


def words(error: BaseException) -> str:
    """Return the fault of the server that raised an error in its client."""
    causes = list(chain(error))
    if any(getattr(each, "verify_code", 0) in _OTHER_HOST_CODES for each in causes):
        return _OTHER_HOST
    for kinds, fault in _FAULTS:
        if any(isinstance(each, kinds) for each in causes):
            return fault
    if any(isinstance(each, redis.ResponseError) and _MISCONF in str(each) for each in causes):
        return _NOT_SAVED
    return AWAY


def is_read_only(error: BaseException) -> bool:
    """Return True if the server is a replica: another server has become the primary."""
    return any(isinstance(each, redis.ReadOnlyError) for each in chain(error))


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, the outermost first."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def eviction_policy(client: redis.Redis) -> str:
    """Return the server's `maxmemory-policy`; empty if it does not tell the process.

    Raises:
        redis.RedisError: the server is away.
    """
    try:
        return str(client.info("memory").get("maxmemory_policy", ""))
    except redis.ResponseError:  # a user without the right to INFO
        return ""
