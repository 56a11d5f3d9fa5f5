"""The management command `token_secret`."""
