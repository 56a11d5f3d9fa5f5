"""The page, which is HTML for the recipient and not part of the OpenAPI document."""
