"""The manifest of money."""

from types import MappingProxyType

from notifications.core import feature
from notifications.core.rules.alerts import AlertKind

_BUDGETS = "/admin/notifications/budget/"


class MoneyConfig(feature.Feature):
    """Budgets of a day, settled costs and the report of a month: docs/money.md."""

    name = "notifications.features.money"
    urls = "notifications.features.money.api.urls"
    gates = MappingProxyType({
        "budget": "notifications.features.money.reservations.hold_without_money",
        "reserve": "notifications.features.money.reservations.reserve",
        "settle": "notifications.features.money.reservations.settle",
        "settle_rescued": "notifications.features.money.ledgers.settle",
        "receipt_prices": "notifications.features.money.receipt_prices.add",
    })
    sweeps = (
        feature.FeatureSweep(
            name="budgets",
            run="notifications.features.money.sweep.run_once",
            seconds=5,
            limit=1_000,
            stops="Messages held by a budget wait till the next day, also after a raise, and"
            " budgets raise no alert.",
            work="work_budgets",
        ),
    )
    menu = (
        feature.MenuEntry(
            "Watch", "Costs", symbol="payments", model="budget", page="admin:notifications_costs"
        ),
        feature.MenuEntry("Settings", "Budgets", symbol="savings", model="budget", is_folded=True),
    )
    alert_pages = (
        (AlertKind.BUDGET_NEARLY_SPENT, _BUDGETS),
        (AlertKind.BUDGET_SPENT, _BUDGETS),
    )
