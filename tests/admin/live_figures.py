"""The figures that a page with plots loads."""

from __future__ import annotations

from typing import Any

from django.test import Client

from notifications.core.store.cached import shared_answers


def live(client: Client, path: str = "", **query: str) -> dict[str, Any]:
    shared_answers.forget()
    answer = client.get(f"/admin/{path}live", query)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def sums(plot: dict[str, Any]) -> dict[str, float]:
    """The sum of each series without zeros."""
    found = {each["name"]: sum(filter(None, each["values"])) for each in plot["series"]}
    return {name: value for name, value in found.items() if value}
