"""The static files of the finders, read once in a process of the tests.

Each `django.test.Client` makes the middlewares again, and WhiteNoise then looks at each static
file, which took up to a third of the time of a short test.
"""

from __future__ import annotations

from typing import Any

from whitenoise.middleware import WhiteNoiseMiddleware


def read_once() -> None:
    """Give each further middleware the files that the first has found below its prefix."""
    read = WhiteNoiseMiddleware.add_files_from_finders
    found: dict[str, dict[str, Any]] = {}

    def add(middleware: WhiteNoiseMiddleware) -> None:
        prefix = middleware.static_prefix
        if prefix not in found:
            others, middleware.files = middleware.files, {}
            read(middleware)  # type: ignore[no-untyped-call] # WhiteNoise has no types
            found[prefix], middleware.files = middleware.files, others
        middleware.files.update(found[prefix])

    WhiteNoiseMiddleware.add_files_from_finders = add  # type: ignore[method-assign] # no setting for it
