"""The service for the tests of the clients, and Node and npm for those of the TypeScript client."""

from __future__ import annotations

import shutil

import pytest

from tests.clients import typescript
from tests.clients.service import relay, service

__all__ = ["node", "npm", "relay", "service"]


@pytest.fixture(scope="module")
def node() -> str:
    """Node's program."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed: the TypeScript client needs Node 18 or later")
    return found


@pytest.fixture(scope="module")
def npm(node: str) -> str:  # noqa: ARG001 - npm runs in Node
    """The program of npm, with the locked compiler installed."""
    found = shutil.which("npm")
    if found is None:
        pytest.skip("npm is not installed: it brings the TypeScript compiler")
    typescript.install_compiler(found)
    return found
