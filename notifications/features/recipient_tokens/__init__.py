"""Recipient tokens: the right of one recipient's app or browser to call the API.

    api         issue a token, revoke all tokens of a recipient
    minting     signatures with the API key
    admin       token secrets, with which back ends sign tokens themselves
    management  the command `token_secret`

The core verifies tokens (`store.recipient_tokens`), because its views of contacts and preferences
take a token in place of a key. Without this app it refuses every token. The table of secrets and
the time of a revocation are in the core, too.
"""
