"""The sandbox under other names: several vendors, each steered by addresses, over real sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from providers import configuration
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Provider,
    Receipt,
    ReceiptRequest,
    Repeat,
    Result,
    Said,
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

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Said]:
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


Answer = Callable[[Sequence[Message]], Iterator[tuple[Message, Outcome]]]


@dataclass
class Scripted:
    """A provider that answers as a test says. Its calls are visible twice when repeated."""

    name: str = "scripted"
    concurrency: int = 2_000
    attachment_bytes: int = 0
    sender_address: str = ""
    answer: Answer = field(default=lambda batch: ((each, Accepted()) for each in batch))

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            channels=frozenset(Channel),
            repeat=Repeat.VISIBLE,
            gives_receipts=True,
            concurrency=self.concurrency,
            attachment_bytes=self.attachment_bytes,
            sender_address=self.sender_address,
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        assert deadline
        for message, outcome in self.answer(batch):
            yield Result(
                delivery_id=message.delivery_id,
                outcome=outcome,
                latency=timedelta(milliseconds=5),
            )

    def parse_receipt(self, request: object) -> Sequence[Receipt]:
        raise AssertionError(request)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        assert deadline
        yield from ()


@dataclass(frozen=True)
class ScriptedVendor:
    provider: Provider
    name: str = "scripted"
    settings: frozenset[str] = frozenset({"NOTIFY_SANDBOX_URL"})

    def configure(self, environ: Mapping[str, str], *, transport: Transport) -> Provider:
        del environ, transport
        return self.provider
