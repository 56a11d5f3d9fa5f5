"""The names of environment variables: unknown ones, and names with two owners."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from notifyproj.service_urls import foreign_variables
from providers import registry

PREFIX: Final = "NOTIFY_"
_OF_PRODUCERS: Final = frozenset({"NOTIFY_URL", "NOTIFY_KEY", "NOTIFY_LISTEN_SECRET"})
"""Variables of a producer's program: no settings, but often in the shell of `manage.py`."""


def unknown(given: Mapping[str, str], *, known: AbstractSet[str]) -> list[str]:
    """Return a line for each unread variable, with the nearest known name."""
    lines = foreign_variables(given)
    for name in sorted(given.keys() - _OF_PRODUCERS):
        if name.startswith(PREFIX) and name not in known:
            close = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f"did you mean {close[0]}?" if close else "remove it."
            lines.append(f"{name} is an unknown setting: {hint}")
    return lines


def taken_by_packages(settings: AbstractSet[str]) -> list[str]:
    """Return a line for each setting of the product that a provider of a package has, too."""
    return [
        f"{name} is a setting of the product: rename the provider {provider!r} (its file or"
        " package), or its setting."
        for name, provider in sorted(registry.settings_of_packages().items())
        if name in settings
    ]
