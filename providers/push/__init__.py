"""Push: FCM, APNs and Web Push.

    fcm        fcm_body, fcm_token      HTTP v1, service account
    apns                                HTTP/2, ES256 token
    web_push   web_push_encryption      VAPID, aes128gcm
    ------------------------------
    renewal    a stale token is renewed once
    replacing  collapse keys, by which a repeat replaces the first message
    keys       private keys and credentials out of settings

No push vendor recognises a repeat, but with every vendor a later message can replace an earlier
message: so a repeat is HIDDEN. No push vendor sends receipts: the client application reports them.
"""
