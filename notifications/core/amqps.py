"""kombu's transport for `amqps://`, which verifies the certificate and the name of the host.

kombu's own transport compares no name of a host, and fails on the parameters of TLS in a URL
(`notifications.core.server_tls`). `celeryconfig` gives this transport to each program of the
service.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any, Final

from kombu.transport import pyamqp

from notifications.core import rabbitmq, server_tls

_NAMES: Final[Mapping[str, str]] = {
    server_tls.CA: "ca_certs",
    server_tls.CERTIFICATE: "certfile",
    server_tls.KEY: "keyfile",
}
"""Parameter of a URL -> option of amqp's `SSLTransport`."""


class Transport(pyamqp.SSLTransport):
    """A connection to RabbitMQ over TLS."""

    Connection = rabbitmq.Connection

    def __init__(self, client: Any, **options: Any) -> None:  # noqa: ANN401 - kombu is untyped
        """Translate the parameters of a URL; a clone of a connection has them translated."""
        given = client.ssl if isinstance(client.ssl, dict) else {}
        if "cert_reqs" not in given:
            client.ssl = _options(given, client.hostname)
        super().__init__(client, **options)  # type: ignore[no-untyped-call]  # untyped


def _options(given: Mapping[str, Any], host: str) -> dict[str, Any]:
    """Return the options of amqp's `SSLTransport` for kombu's reading of a URL."""
    requirement = given.get(server_tls.REQUIREMENT, ssl.CERT_REQUIRED)
    options = {_NAMES[name]: value for name, value in given.items() if name in _NAMES}
    options["cert_reqs"] = requirement
    if requirement != ssl.CERT_NONE and given.get(server_tls.CHECK_HOST, True):
        options["server_hostname"] = host  # amqp compares the name if it has one
    return options
