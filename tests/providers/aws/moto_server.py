"""moto's server on a real port, and boto3 clients that read back what it accepted.

moto has a process of its own: the AST constructor of CPython 3.11 counts its recursion for all
threads together, so a parse in a thread of moto beside a parse of a test can raise SystemError.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from functools import cache
from typing import Any, Final

import boto3

from tests.providers.aws.fakes import KEY_ID, REGION, SECRET

_PROGRAM: Final = """
import sys
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://%s:%s" % server.get_host_and_port(), flush=True)
sys.stdin.read()
"""
"""Prints the URL, and ends with the input."""


@cache
def moto() -> str:
    """Return the URL of moto's server, which keeps its objects until the test process ends."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
        text=True,
    )
    atexit.register(process.communicate)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url, "moto's server did not start: run moto_server to see the reason"
    return url


def client(service: str, url: str) -> Any:  # noqa: ANN401 - boto3 has no types
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=url,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=SECRET,
    )
