"""A supervisor that has loaded the app has one thread, no connection and one environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from notifyproj.devstack.supervisor.process import ROOT

_LOAD = "from notifyproj.processes import app; app.load(os.environ)"
_SCRIPT = """
import os, sys, threading
import psutil
from notifyproj.devstack.supervisor import demo
from notifyproj.processes import app
environ = dict(os.environ)
os.environ.clear()
app.load(environ)
import celeryconfig
assert celeryconfig.broker_url == environ["CELERY_BROKER_URL"]
print([thread.name for thread in threading.enumerate()], psutil.Process().net_connections())
assert "notifications.core.delivery" in sys.modules
"""


def test_the_loaded_app_has_one_thread_and_no_connection() -> None:
    ran = _python(_SCRIPT)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "['MainThread'] []\n"


@pytest.mark.parametrize("name", ["celeryconfig", "notifyproj.settings"])
def test_a_configuration_of_another_environment_is_refused(name: str) -> None:
    ran = _python(f"import os, {name}\n{_LOAD}")
    assert ran.returncode == 1
    assert ran.stderr.endswith(f"RuntimeError: loaded before the environment was set: {name}\n")


def _python(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "notifyproj.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
