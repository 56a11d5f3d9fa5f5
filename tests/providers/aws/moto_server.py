"""moto's server on a real port, and boto3 clients that read back what it accepted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from tests.providers.aws.fakes import KEY_ID, REGION, SECRET


@contextmanager
def moto() -> Iterator[str]:
    """Run it, emptied; gives its URL."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def client(service: str, url: str) -> Any:  # noqa: ANN401 - boto3 has no types
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=url,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=SECRET,
    )
