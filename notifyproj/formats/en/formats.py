"""Times as logs and providers write them: sortable, to the second, with their zone.

“Nov. 21, 10:03 a.m.” could be any second of sixty, in any zone, and an operator compares them.
"""

from __future__ import annotations

DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "Y-m-d H:i:s e"
