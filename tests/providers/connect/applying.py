"""Steps that the tests of all accounts share."""

from __future__ import annotations

from providers.connect.account import ConnectableAccount, ListedAddress


def connect(account: ConnectableAccount) -> list[str]:
    """Make the planned changes; return their subjects."""
    changes = account.plan()
    for change in changes:
        change.apply()
    return [each.subject for each in changes]


def bad(account: ConnectableAccount) -> list[str]:
    return [each.detail for each in account.findings() if not each.is_good]


def listed(account: ConnectableAccount) -> list[tuple[str, str]]:
    pages: list[ListedAddress] = [each for page in account.suppression_pages() for each in page]
    return [(each.address, each.listed_for) for each in pages]
