"""A template that a vendor approved before, in place of the text of a chat message.

    {"ids": {"whatsapp": "order_shipped/en_US", "twilio": "HX01..."}, "parameters": ["{{ name }}"]}

WhatsApp takes free text only within 24 hours of the person's last message; at other times it takes
approved templates. The vendor has the text of the template, and the service sends the id and
the values of the parameters, in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

MAX_IDS: Final = 10
MAX_PARAMETERS: Final = 30
_PROVIDER: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_ID: Final = re.compile(r"[A-Za-z0-9_.:/\-]{1,600}")
"""WhatsApp's names have up to 512 characters, and the language follows."""


class VendorTemplate(NamedTuple):
    """The ids of an approved template, and its parameters."""

    ids: tuple[tuple[str, str], ...] = ()
    """Name of the provider, and the id there; sorted."""
    parameters: tuple[str, ...] = ()
    """Sources in the template language, in the order of the vendor's placeholders."""


EMPTY: Final = VendorTemplate()


def read(stored: object) -> VendorTemplate:
    """Read a stored template; unknown and malformed fields, of another release, are ignored."""
    if not isinstance(stored, Mapping):
        return EMPTY
    ids, parameters = stored.get("ids"), stored.get("parameters")
    ids = ids if isinstance(ids, Mapping) else {}
    parameters = parameters if isinstance(parameters, list) else []
    return VendorTemplate(
        tuple(sorted((name, each) for name, each in ids.items() if isinstance(each, str))),
        tuple(each for each in parameters if isinstance(each, str)),
    )


def written(template: VendorTemplate) -> dict[str, Any]:
    """Return the template as JSON; empty for a text without a template."""
    told = {"ids": dict(template.ids), "parameters": list(template.parameters)}
    return {name: value for name, value in told.items() if value}


def sources(template: VendorTemplate) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of each parameter."""
    for number, each in enumerate(template.parameters, start=1):
        yield f"parameter {number} of the vendor template", each


def structure_faults(template: VendorTemplate) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield place and sentence of the faults independent of the variables."""
    if template.parameters and not template.ids:
        yield ("ids",), "must name the template of a provider: the parameters belong to it"
    if len(template.ids) > MAX_IDS:
        yield ("ids",), f"may name {MAX_IDS} providers, not {len(template.ids)}"
    if len(template.parameters) > MAX_PARAMETERS:
        said = f"may hold {MAX_PARAMETERS} parameters, not {len(template.parameters)}"
        yield ("parameters",), said
    for name, each in template.ids:
        if not (_PROVIDER.fullmatch(name) and _ID.fullmatch(each)):
            said = "must be a provider, such as whatsapp, and 1 to 600 of A-Z a-z 0-9 _ . : / -"
            yield ("ids", name[:32]), said
    for place, each in enumerate(template.parameters):
        if not each.strip():
            yield ("parameters", place), "must not be empty"
