"""CSV in requests and answers, beside JSON."""

from __future__ import annotations

from typing import Final

from rest_framework.renderers import BaseRenderer

from notifications.core.api.base_view import BaseView
from notifications.core.api.json_io import JsonRenderer, RawParser

CSV: Final[str] = "text/csv"


class CsvParser(RawParser):
    """DRF parser for CSV: the view gets the bytes."""

    media_type = CSV


class CsvRenderer(BaseRenderer):
    """DRF renderer for `Accept: text/csv`; the view streams the file."""

    media_type = CSV
    format = "csv"
    charset = "utf-8"


class CsvView(BaseView):
    """A view with answers in CSV too."""

    renderer_classes = (JsonRenderer, CsvRenderer)
