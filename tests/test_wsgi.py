"""A web process has loaded its views before the first request."""

from __future__ import annotations

import subprocess
import sys

from notifyproj.devstack.supervisor.process import ROOT

_LOADED = """
import os, sys
import notifyproj.wsgi
views = {"notifications.core.api.notifications", "notifications.core.admin"}
print(views <= sys.modules.keys(), flush=True)
os._exit(0)  # the process has watches
"""


def test_the_views_are_loaded_before_the_first_request() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", _LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.splitlines()[-1] == "True"
