"""The question whether a process of this host answers HTTP."""

from __future__ import annotations

import http.client
from typing import Final

_LOOPBACK: Final = "127.0.0.1"
_ANSWER_SECONDS: Final = 2.0
_OK: Final = 200


def answers(port: int, path: str) -> bool:
    """Return True if `GET path` on the port answers 200 within two seconds."""
    connection = http.client.HTTPConnection(_LOOPBACK, port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == _OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
