"""A vendor's name, settings and adapter as a value, at the end of the vendor's module.

    VENDOR: Final = Vendor(NAME, Config, Apns)

`Vendor` builds the adapter of every vendor from the environment.
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
    """Makes an adapter; usually the adapter's class."""

    def __call__(self, config: C_contra, /, *, transport: Transport) -> Provider:
        """Contact no server; `transport` is the process's transport."""


@dataclass(frozen=True, slots=True)
class Vendor(Generic[C]):
    """A configurable vendor."""

    name: str
    """The name in routes, rows, logs and `NOTIFY_<NAME>_*`."""
    config: type[C]
    build: Build[C]

    @property
    def settings(self) -> frozenset[str]:
        """Names of the vendor's environment variables."""
        return configuration.setting_names(self.name, self.config)

    @property
    def required_fields(self) -> tuple[str, ...]:
        """Names of the required fields of the Config."""
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
    """The part of a `Provider` for a vendor without callbacks."""

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt]:
        """Refuse a callback.

        Raises:
            NoReceipts: always.
        """
        del request
        raise NoReceipts
