"""The model of `<notify-inbox>`: devices of a person end with the items that the service has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import orjson
import pytest

from notifications.features import inbox

_NODE: Final = shutil.which("node")
_MODEL: Final = Path(inbox.__path__[0], "static", "notifications", "inbox", "model.js")
_DEVICES: Final = Path(__file__).with_name("model.mjs")
_HISTORIES: Final = 1_500
_SHOWN: Final = 3


@pytest.mark.skipif(_NODE is None, reason="node is missing: apt-get install nodejs")
def test_two_devices_end_with_the_items_of_the_service_whatever_the_order() -> None:
    """Marks, their responses and the events of the other device's marks cross at random."""
    command = [_NODE or "", str(_DEVICES), str(_MODEL), str(_HISTORIES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    differences = orjson.loads(done.stdout)
    assert differences[:_SHOWN] == []
