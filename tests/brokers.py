"""The broker of a test run: Valkey, or RabbitMQ with `BROKER=rabbitmq make test ONLY=...`."""

from __future__ import annotations

import os
from typing import Final

import pytest

BROKER: Final = os.environ.get("BROKER", "valkey")
"""Of all stacks of the run: `valkey`, or `rabbitmq` if the system has it."""
valkey_only: Final = pytest.mark.skipif(
    BROKER != "valkey", reason="the test is about Valkey as the broker"
)
rabbitmq_only: Final = pytest.mark.skipif(
    BROKER != "rabbitmq", reason="the test is about RabbitMQ: BROKER=rabbitmq"
)
