"""The page about providers names every setting of each, and says which are required."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from providers import registry
from providers.configuration import setting_name

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text()
SECTION = PAGE.partition("## Settings")[2].partition("\n## ")[0]
ROWS: dict[str, str] = dict(
    re.findall(r"^\| (?:`(\w+)`|each of AWS) \| (.*) \|$", SECTION, re.MULTILINE)
)
VENDORS = {vendor.name: vendor for vendor in registry.VENDORS}


def _row(name: str) -> str:
    return ROWS[name] + (ROWS[""] if "AWS's below" in ROWS[name] else "")


@pytest.mark.parametrize("name", VENDORS)
def test_a_providers_settings_are_all_told(name: str) -> None:
    told = set(re.findall(r"`([A-Z0-9_]+)`", _row(name)))
    known = {each.removeprefix(f"NOTIFY_{name.upper()}_") for each in VENDORS[name].settings}
    assert told == known


@pytest.mark.parametrize("name", VENDORS)
def test_the_required_ones_are_bold(name: str) -> None:
    required = {
        setting_name(name, each.name)
        for each in fields(VENDORS[name].config)
        if each.default is MISSING and each.default_factory is MISSING
    }
    own = {
        each.removeprefix(f"NOTIFY_{name.upper()}_") for each in required & VENDORS[name].settings
    }
    assert set(re.findall(r"\*\*`([A-Z_]+)`\*\*", _row(name))) == own


def test_the_page_names_no_provider_that_is_not_there() -> None:
    assert set(ROWS) - {""} == set(VENDORS)
    table = PAGE.partition("## Settings")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(VENDORS)
