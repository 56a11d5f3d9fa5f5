"""A line that is too long ends an upload, and the error names the line."""

from __future__ import annotations

import io

import pytest

from notifications.core.rules.csv_reader import MAX_LINE
from notifications.features.audiences.rules.upload_lines import (
    InvalidUpload,
    UploadFormat,
    read_lines,
)


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_too_long_is_named(end: bytes) -> None:
    file = b"user_id,code\nu_1,a\nu_2," + b"x" * MAX_LINE + end
    with pytest.raises(InvalidUpload, match=r"^line 3 is longer than 256 KiB"):
        list(read_lines(io.BytesIO(file), UploadFormat.CSV))
