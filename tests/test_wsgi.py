"""A web process has loaded its views before the first request, and tells of a slower path."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

from notifyproj.devstack.supervisor.process import ROOT

_LOADED: Final = """
import os, sys
import notifyproj.wsgi
from notifications.core import telemetry
views = {"notifications.core.api.notifications", "notifications.core.admin"}
print(views <= sys.modules.keys(), flush=True)
telemetry.STDERR.drain(60)
os._exit(0)  # the process has watches
"""
_FORKED: Final = """
from notifyproj import web
web.mp._wsgi_call_wrap = web._with_reply
"""
"""The state that a forked process of the server inherits."""


@pytest.mark.parametrize(("before", "warnings"), [(_FORKED, 0), ("", 1)])
def test_the_views_are_loaded_before_the_first_request(before: str, warnings: int) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", before + _LOADED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.splitlines()[-1] == "True"
    assert loaded.stderr.count("short_path_off") == warnings
