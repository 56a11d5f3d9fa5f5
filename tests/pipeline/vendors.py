"""The sandbox under other names: several vendors, each steered by addresses, over real sockets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from providers import configuration
from providers.contract import (
    Capabilities,
    Finding,
    InboundText,
    Message,
    Provider,
    Receipt,
    ReceiptRequest,
    Result,
)
from providers.sandbox import Config, Sandbox
from providers.transport import Transport


@dataclass(frozen=True, kw_only=True)
class Alias:
    """A sandbox that goes by another name and may take less."""

    name: str
    inner: Provider
    capabilities: Capabilities

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        return self.inner.send(batch, deadline=deadline)

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        return self.inner.parse_receipt(request)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        return self.inner.check(deadline=deadline)


@dataclass(frozen=True, kw_only=True)
class AliasVendor:
    """As a `Vendor`, configured wherever the sandbox is."""

    name: str
    url: str = ""
    """Where its server is; empty: the sandbox's own."""
    takes: Mapping[str, Any] = field(default_factory=dict)
    """Capabilities that differ from the sandbox's."""
    settings: frozenset[str] = frozenset({"NOTIFY_SANDBOX_URL"})

    def configure(self, environ: Mapping[str, str], *, transport: Transport) -> Provider:
        secret = configuration.secrets(environ["NOTIFY_SANDBOX_SECRET"])
        config = Config(url=self.url or environ["NOTIFY_SANDBOX_URL"], secret=secret)
        inner = Sandbox(config, transport=transport)
        capabilities = replace(inner.capabilities, **self.takes)
        return Alias(name=self.name, inner=inner, capabilities=capabilities)
