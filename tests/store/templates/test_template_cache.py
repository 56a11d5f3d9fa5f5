"""What a process holds of the template versions that it has read."""

from __future__ import annotations

import pytest

from notifications.core.rules.templates import contents
from notifications.core.store.templates import template_cache, versions
from providers.contract import Channel

SETTINGS = {"sensitive_variables": [], "variables": [], "default_locale": "en"}


def _published(name: str) -> int:
    text = contents.words(Channel.SMS, "en", body="hello")
    draft = versions.draft(name, contents.content([text], SETTINGS), by="ana")
    return versions.publish(draft, by="ben").pk


@pytest.mark.django_db
def test_a_process_holds_only_so_many_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_cache, "_MOST_KEPT", 4)
    template_cache.forget()
    made = [_published(f"t{number}") for number in range(12)]
    for each in made:
        assert list(template_cache.by_id([each])) == [each]
        assert len(template_cache._cache._by_id) <= 4
    assert set(template_cache.by_id(made)) == set(made)
    assert set(template_cache.by_id(made[:3])) == set(made[:3])
    template_cache.forget()
