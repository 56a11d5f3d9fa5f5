"""Single sign-on of operators: OpenID Connect, authorization code flow with PKCE.

    metadata     the provider's endpoints and keys, and the calls to the provider
    backend      checks of the ID token, for Django's authentication
    accounts     the account of an identity: created with a role, roles kept equal to the groups
    views        start, callback, and sign-out at the provider; `urls` has their paths
    management   `manage.py link_identity`

mozilla-django-oidc does the flow: state, nonce, code verifier, signature. The subclass in `backend`
also checks issuer, audience and the subject of the user info, and calls allowed hosts only. An
identity is the pair of issuer and subject. An e-mail address never selects an account, so an
identity provider cannot take over a local account; `manage.py link_identity` links deliberately.

The settings, the table of identities and the mark of sessions that began here are in the core: the
sign-in by password decides by the mark which party asks for the second factor. Without this app the
settings count as absent, and Django ends the sessions that began here, because their backend is not
configured.
"""
