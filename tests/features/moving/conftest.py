"""An import of files by the command, and no messages after each test."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from notifications.core.models import Delivery, Notification
from notifications.core.store.cached import attributes, notification_types

ImportFrom = Callable[..., str]


@pytest.fixture(autouse=True)
def _sends_nothing(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks for it by name
    attributes.kinds.forget()
    notification_types.forget()
    yield
    assert not Notification.objects.exists()
    assert not Delivery.objects.exists()


@pytest.fixture
def import_from(tmp_path: Path) -> ImportFrom:
    """Import files, given as name -> JSON, text or bytes, and return the report."""

    def run(vendor: str, files: dict[str, Any], *options: str) -> str:
        for name, content in files.items():
            place = tmp_path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str | bytes) else json.dumps(content)
            place.write_bytes(text.encode() if isinstance(text, str) else text)
        told = io.StringIO()
        paths = [str(tmp_path / name) for name in files]
        call_command("import_from", vendor, *paths, *options, stdout=told)
        return told.getvalue().replace(f"{tmp_path}/", "")

    return run
