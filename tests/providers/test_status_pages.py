"""Each status page belongs to a provider that is shipped."""

from __future__ import annotations

from providers import registry, status_pages


def test_each_page_is_of_a_shipped_provider() -> None:
    names = {vendor.name for vendor in registry.VENDORS}
    assert status_pages.PAGES.keys() <= names
    assert all(page.startswith("https://") for page in status_pages.PAGES.values())
