"""The supervisor that has loaded the app has nothing that its forks must not share."""

from __future__ import annotations

import os
import subprocess
import sys

from notifyproj.devstack.supervisor.process import ROOT

_SCRIPT = """
import os, sys, threading
import psutil
from notifyproj.devstack.supervisor import app
app.load(os.environ)
print([thread.name for thread in threading.enumerate()], psutil.Process().net_connections())
assert "notifications.core.delivery" in sys.modules
"""


def test_the_loaded_app_has_one_thread_and_no_connection() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "notifyproj.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "['MainThread'] []\n"
