"""From environment variables to a vendor's typed, frozen Config, with clear errors.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Config:
        url: str = field(metadata=parse_with(http_url))  # NOTIFY_VENDOR_URL, required
        dedup: bool = field(default=True, metadata=parse_with(yes_no))  # optional

A reader turns text into a value or raises ValueError with a sentence that does not repeat the
text, because the text may be a secret. The Config's `__post_init__` checks several fields together
and raises InvalidValue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import SplitResult, urlsplit

from providers.errors import ConfigurationError
from providers.standard_webhooks import Secret

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

C = TypeVar("C", bound="DataclassInstance")


PUBLIC_URL: Final = "NOTIFY_PUBLIC_URL"
"""A setting of the whole service, not of a vendor: the service's public URL."""
NAT64_PREFIXES: Final = "NOTIFY_NAT64_PREFIXES"
"""A setting of the whole service: the NAT64 prefixes of the network."""


class InvalidValue(Exception):
    """A field does not fit the other fields of the Config; carries field name and remedy."""

    def __init__(self, field_name: str, problem: str) -> None:
        super().__init__(f"{field_name}: {problem}")
        self.field_name, self.problem = field_name, problem


def parse_with(
    reader: Callable[[str], object], *, setting: str = "", said: str = ""
) -> Mapping[str, object]:
    """Return metadata of a Config field: the reader of the text, and a shared setting's name.

    `said` is the sentence of a field that has no docstring.
    """
    return {"reader": reader, "setting": setting, "said": said}


def setting_name(vendor: str, field_name: str) -> str:
    """Name the environment variable of a field: `NOTIFY_SMTP_FROM` for `from_`."""
    return f"NOTIFY_{vendor}_{field_name}".upper().rstrip("_")


def setting_names(vendor: str, config: type[DataclassInstance]) -> frozenset[str]:
    """Name every environment variable that belongs to a vendor."""
    own = [each.name for each in fields(config) if not each.metadata["setting"]]
    return frozenset(setting_name(vendor, name) for name in own)


def load(config: type[C], *, vendor: str, environ: Mapping[str, str]) -> C:
    """Read a vendor's Config.

    Raises:
        ConfigurationError: a setting is missing or malformed; the message names it.
    """
    values = {}
    for each in fields(config):
        name = each.metadata["setting"] or setting_name(vendor, each.name)
        text = environ.get(name, "").strip()
        if text:
            values[each.name] = _parse(each, name=name, text=text)
        elif each.default is MISSING and each.default_factory is MISSING:
            raise ConfigurationError(name, f"is required once any NOTIFY_{vendor.upper()}_* is set")
    try:
        return config(**values)
    except InvalidValue as error:
        name = setting_name(vendor, error.field_name)
        raise ConfigurationError(name, error.problem) from None


def _parse(each: Field[object], *, name: str, text: str) -> object:
    reader: Callable[[str], object] = each.metadata["reader"]
    try:
        return reader(text)
    except ValueError as error:
        raise ConfigurationError(name, str(error)) from None


def yes_no(text: str) -> bool:
    """Read `yes` or `no`.

    Raises:
        ValueError: the text is neither.
    """
    answers = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in answers:
        raise ValueError("write yes or no")
    return answers[text.lower()]


def positive_number(text: str) -> int:
    """Read a whole number of 1 or more.

    Raises:
        ValueError: the text is no price.
    """
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError("write a whole number of 1 or more")
    return int(text)


def split_url(text: str) -> SplitResult:
    """Split a URL that may carry a password: the library's own message would repeat a part of it.

    Raises:
        ValueError: the URL cannot be split.
    """
    try:
        parts = urlsplit(text)
        _ = parts.port  # only looked at when it is read
    except ValueError:
        raise ValueError(
            "is an invalid URL; percent-encode special characters in a password"
        ) from None
    return parts


def http_url(text: str) -> str:
    """Read a base URL; a slash at its end is dropped.

    Raises:
        ValueError: the text is no http or https URL with a host.
    """
    parts = split_url(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not text.isascii():
        raise ValueError("write an http:// or https:// URL")
    return text.rstrip("/")


def secrets(text: str) -> tuple[Secret, ...]:
    """Read signing secrets, separated by commas; all secrets sign, any secret verifies.

    Raises:
        ValueError: an entry is malformed.
    """
    return tuple(Secret.parse(part.strip()) for part in text.split(","))
