"""Recipient tokens: signing keys, verification, revocation and cross-origin answers.

    signing_keys    kid of the header -> producer, mode, HMAC keys
    token_secrets   secrets of producers, which sign tokens without a call
    verification    token -> RecipientToken, or TokenRefused with a reason
    revocations     what ended since the verification, in every process within two seconds
    cors            headers for pages of the producers' origins

`rules.recipient_tokens` has the claims.
"""
