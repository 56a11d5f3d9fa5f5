"""The URL paths of budgets and costs."""

from __future__ import annotations

from django.urls import path

from notifications.features.money.api import budgets, costs

urlpatterns = [
    path("v1/costs", costs.CostsView.as_view()),
    path("v1/budgets", budgets.BudgetListView.as_view()),
]
