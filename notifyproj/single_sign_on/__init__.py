"""Single sign-on of operators: OpenID Connect, authorization code flow with PKCE.

    options      the settings: identity provider, client, groups with their roles
    metadata     the provider's endpoints and keys, and the calls to the provider
    backend      checks of the ID token, for Django's authentication
    accounts     the account of an identity: created with a role, roles kept equal to the groups
    views        start, callback and sign-out

mozilla-django-oidc does the flow: state, nonce, code verifier, signature. The subclass in `backend`
also checks issuer, audience and the subject of the user info, and calls allowed hosts only. An
identity is the pair of issuer and subject. An e-mail address never selects an account, so an
identity provider cannot take over a local account; `manage.py link_identity` links deliberately.
"""
