"""Sets the host's clock of one process, as its product code sees it.

Python runs this at its start when the folder is on PYTHONPATH; WRONG_CLOCK_FILE names a file with
the seconds by which the clock is wrong. The file is read at each question, so a test can set the
clock while the process runs.
"""

import datetime as dt
import os
from pathlib import Path

from notifications.core import clock

_FILE = Path(os.environ["WRONG_CLOCK_FILE"])
_true = clock.host


def _wrong() -> dt.datetime:
    return _true() + dt.timedelta(seconds=float(_FILE.read_text()))


clock.host = _wrong
