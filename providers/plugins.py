"""Vendors of installed packages: entry points of the group `notify.providers`.

    [project.entry-points."notify.providers"]
    acme_sms = "acme_sms:VENDOR"  # a providers.vendor.Vendor

The product imports the vendors of all installed packages at the start of each process. The import
must be short: import an SDK of the vendor at its first use.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from providers.errors import ConfigurationError
from providers.vendor import Vendor

GROUP: Final = "notify.providers"

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
"""The columns of the database have 32 characters."""


@dataclass(frozen=True, slots=True)
class Found:
    """The vendors of installed packages, and the first entry point that cannot be used."""

    vendors: tuple[Vendor[Any], ...] = ()
    fault: ConfigurationError | None = None


def find(builtin: Sequence[Vendor[Any]], *, reserved: frozenset[str]) -> Found:
    """Import the vendors of all entry points, in the order of their names.

    Args:
        builtin: Vendors of the product; a package must not use their names or settings.
        reserved: Names of providers that are no vendors.
    """
    vendors: list[Vendor[Any]] = []
    for point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        try:
            vendors.append(_vendor(point, known=[*builtin, *vendors], reserved=reserved))
        except ConfigurationError as fault:
            return Found(tuple(vendors), fault)
    return Found(tuple(vendors))


def _vendor(
    point: EntryPoint, *, known: Sequence[Vendor[Any]], reserved: frozenset[str]
) -> Vendor[Any]:
    package = point.dist.name if point.dist else "an unknown package"
    where = f"Entry point {point.name} of {package} in {GROUP}"
    try:
        vendor = point.load()
    except Exception as error:
        raise ConfigurationError(
            where, f"{point.value} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(vendor, Vendor):
        raise ConfigurationError(where, f"{point.value} is no providers.vendor.Vendor")
    refuse_taken(vendor, where=where, known=known, reserved=reserved)
    return vendor


def refuse_taken(
    vendor: Vendor[Any],
    *,
    where: str,
    known: Sequence[Vendor[Any]],
    reserved: frozenset[str],
) -> None:
    """Check the name and the settings of a vendor that is not the product's; `where`: its source.

    Raises:
        ConfigurationError: the name is malformed, or another vendor has the name or a setting.
    """
    if not _NAME.fullmatch(vendor.name):
        raise ConfigurationError(
            where,
            f"the provider's name {vendor.name!r} must have a lower-case letter, and then up to"
            " 31 lower-case letters, digits and underscores",
        )
    if vendor.name in reserved or vendor.name in {each.name for each in known}:
        raise ConfigurationError(where, f"the name {vendor.name!r} is taken: choose another")
    try:
        settings = vendor.settings
    except (KeyError, TypeError) as error:
        raise ConfigurationError(
            where, "its Config must be a dataclass whose fields have configuration.parse_with(...)"
        ) from error
    shared = settings & frozenset[str]().union(*(each.settings for each in known))
    if shared:
        raise ConfigurationError(
            where, f"the setting {min(shared)} belongs to another provider: choose another name"
        )
