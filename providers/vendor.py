"""What each vendor's module ends with: its name, its settings and its adapter, as one value.

    VENDOR: Final = Vendor(NAME, Config, Apns)

So a vendor says what it needs, and the way from the environment to an adapter is written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from providers import configuration
from providers.contract import Provider, Receipt, ReceiptRequest
from providers.errors import NoReceipts
from providers.transport import Transport

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

C = TypeVar("C", bound="DataclassInstance")
C_contra = TypeVar("C_contra", bound="DataclassInstance", contravariant=True)


class Build(Protocol[C_contra]):
    """Makes an adapter: its class, as a rule."""

    def __call__(self, config: C_contra, /, *, transport: Transport) -> Provider:
        """Contact nobody; `transport` is the process's own."""


@dataclass(frozen=True, slots=True)
class Vendor(Generic[C]):
    """A vendor that can be configured."""

    name: str
    """As in routes, rows, logs and `NOTIFY_<NAME>_*`."""
    config: type[C]
    build: Build[C]

    @property
    def settings(self) -> frozenset[str]:
        """Every environment variable of its own."""
        return configuration.setting_names(self.name, self.config)

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The fields of its Config without which it is not configured."""
        return tuple(
            each.name
            for each in fields(self.config)
            if each.default is MISSING
            and each.default_factory is MISSING
            and not each.metadata["setting"]
        )

    def configure(self, environ: Mapping[str, str], *, transport: Transport) -> Provider:
        """Build the adapter from the environment.

        Raises:
            ConfigurationError: a setting is missing or malformed.
        """
        config = configuration.load(self.config, vendor=self.name, environ=environ)
        return self.build(config, transport=transport)


class OneWay:
    """The half of a `Provider` that calls nobody back."""

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt]:
        """Refuse it.

        Raises:
            NoReceipts: always.
        """
        del request
        raise NoReceipts
