"""JSON parser and renderer with orjson.

Input which orjson refuses (invalid UTF-8, lone surrogates, NaN, numbers beyond a double, more than
a thousand levels) is a 400. `body_limits` refuses large bodies before parsing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from notifications.core.api.problems import raise_problem
from notifications.core.rules.problems import Kind, Problem


class RawParser(BaseParser):
    """DRF parser for any media type: gives the raw bytes, to verify a provider's signature."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - DRF's signature
    ) -> Any:  # noqa: ANN401 - DRF's signature
        """Read the body; `body_limits` has checked the length."""
        return stream.read()


class JsonParser(RawParser):
    """DRF parser for JSON. The pydantic schema checks the type of the decoded value."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Decode the body.

        Raises:
            ProblemError: the body is not valid JSON.
        """
        return decode(super().parse(stream, media_type, parser_context))


class JsonRenderer(BaseRenderer):
    """DRF renderer for compact JSON. Instants are UTC with a trailing Z."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,  # noqa: ANN401 - whatever JSON holds
        accepted_media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - DRF's signature
    ) -> bytes:
        """Encode a response body; a response without a body (204, 304) has no bytes."""
        return b"" if data is None else encode(data)


def decode(raw: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Decode a body.

    Raises:
        ProblemError: the body is not valid JSON.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise_problem(Problem(Kind.MALFORMED, f"the body is not JSON: {error}"))


def encode(data: object) -> bytes:
    """Encode the body of a response as compact JSON."""
    return orjson.dumps(data, option=orjson.OPT_UTC_Z)
