"""The blocks that `admin/block_tools.html` inserts into a mail in blocks."""

from __future__ import annotations

from typing import Final

BLOCK_KINDS: Final = (
    ("Heading", "# Heading"),
    ("Text", "Text"),
    ("Button", "::: button [Label](https://example.com)"),
    ("Image", "![Description](https://example.com/picture.png)"),
    ("List", "- One\n- Two"),
    ("Divider", "---"),
    ("Columns", "::: columns\nLeft\n::: column\nRight\n::: end"),
    (
        "Table",
        (
            "::: table item in items\n| Article | Price |\n| --- | --: |\n"
            "| {{ item.name }} | {{ item.price }} |\n::: end"
        ),
    ),
    ("Condition", "::: if name\nText\n::: else\nOther text\n::: end"),
    ("Preheader", "::: preheader The line beside the subject"),
)
"""Label and source of each block."""
