"""JSON in and out, by orjson: strict, bounded, and the cheapest there is.

What orjson refuses (bad UTF-8, lone surrogates, NaN, numbers that are infinite as doubles, a
thousand levels) is a 400. `body_limits` refuses a body that is too large before it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from notifications.api.problems import refuse
from notifications.rules.problems import Kind, Problem


class RawParser(BaseParser):
    """Any media type, as bytes: what a provider signed must be checked as it came."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - DRF's signature
    ) -> Any:  # noqa: ANN401 - DRF's signature
        """Read the body; `body_limits` has checked its length."""
        return stream.read()


class JsonParser(RawParser):
    """JSON values of any type; whether it is the right one is the shape's business."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Decode the body.

        Raises:
            Refusal: it is no JSON.
        """
        raw = super().parse(stream, media_type, parser_context)
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            refuse(Problem(Kind.MALFORMED, f"the body is not JSON: {error}"))


class JsonRenderer(BaseRenderer):
    """Compact JSON; instants in UTC end in Z."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,  # noqa: ANN401 - whatever JSON holds
        accepted_media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - DRF's signature
    ) -> bytes:
        """Encode an answer; one without a body (204, 304) has no bytes, rather than `null`."""
        if data is None:
            return b""
        return orjson.dumps(data, option=orjson.OPT_UTC_Z)
