"""Times in the format of logs and providers: sortable, to the second, with the time zone.

Operators compare times, and “Nov. 21, 10:03 a.m.” names neither the second nor the time zone.
"""

from __future__ import annotations

DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "Y-m-d H:i:s e"
