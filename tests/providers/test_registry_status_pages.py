"""Each status page belongs to a provider that is shipped."""

from __future__ import annotations

from providers import registry


def test_each_page_is_of_a_shipped_provider() -> None:
    names = {vendor.name for vendor in registry.VENDORS}
    assert registry.STATUS_PAGES.keys() <= names
    assert all(page.startswith("https://") for page in registry.STATUS_PAGES.values())
