"""Writes the tables of docs/settings.md: python -m tests.architecture.settings_page."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, fields
from enum import Enum
from pathlib import Path
from typing import Any, Final

from notifyproj.environment import Environment
from providers import configuration, registry
from providers.vendor import Vendor

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
OF_EACH_PROVIDER: Final = {
    "codes": "Meanings of the vendor's codes that replace those of the service:"
    " `30003=unavailable, 21614=dead`.",
    "per_second": "Most calls in a second, over all processes.",
    "url": "Base URL of the vendor's API, for a proxy or a test.",
}
"""Settings of several providers that need no sentence of their own: name of the field, sentence."""


def text(page: str) -> str:
    """Return the page with new tables."""
    service = ["| variable | default | value |", "| --- | --- | --- |", *_of_service()]
    of_providers = ["| variable | default | value |", "| --- | --- | --- |", *_of_providers()]
    return _with(_with(page, "settings", service), "settings of providers", of_providers)


def _with(page: str, name: str, lines: list[str]) -> str:
    """Return the page with other lines between the comments of a table."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    return before + begin + "\n".join(lines) + "\n" + rest[rest.index(end) :]


def _of_service() -> Iterator[str]:
    settings = Environment.model_fields.values()
    for field in sorted(settings, key=lambda each: each.alias or ""):
        described = (field.description or "").replace("|", "\\|")
        default = "required" if field.is_required() else _default(field.default)
        yield f"| `{field.alias}` | {default} | {described} |"


def _of_providers() -> Iterator[str]:
    for vendor in sorted(registry.VENDORS, key=lambda each: each.name):
        sentences = _sentences(vendor)
        for field in fields(vendor.config):
            if field.metadata["setting"]:
                continue
            is_required = field.default is MISSING and field.default_factory is MISSING
            default = "required" if is_required else _default(field.default)
            name = configuration.setting_name(vendor.name, field.name)
            yield f"| `{name}` | {default} | {sentences[field.name]} |"


def _sentences(vendor: Vendor[Any]) -> dict[str, str]:
    """Return the docstring of each field of a vendor's Config, or the sentence in its metadata.

    Raises:
        KeyError: a field has none.
    """
    found: dict[str, str] = dict(OF_EACH_PROVIDER)
    made = {each.name: each.metadata["said"] for each in fields(vendor.config)}
    if any(made.values()):
        return found | {name: sentence for name, sentence in made.items() if sentence}
    for each in reversed(vendor.config.__mro__[:-1]):
        [declared] = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        assert isinstance(declared, ast.ClassDef)
        for line, after in zip(declared.body, declared.body[1:], strict=False):
            match line, after:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(said))),
                ):
                    found[name] = " ".join(said.split())
                case _:
                    pass
    return found


def _default(value: object) -> str:
    """Return a default that the environment could have; empty: none, or a table."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, tuple | frozenset) and all(isinstance(each, str) for each in value):
        value = ",".join(sorted(value))
    if isinstance(value, bool):
        return "`yes`" if value else "`no`"
    if isinstance(value, int | float | str) and value != "":
        return f"`{value}`"
    return ""


if __name__ == "__main__":
    PAGE.write_text(text(PAGE.read_text()))
