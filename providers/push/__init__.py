"""Push: FCM, APNs, Expo and Web Push.

    fcm        fcm_body, fcm_token      HTTP v1, service account
    apns                                HTTP/2, ES256 token
    expo       expo_token               up to 100 messages a request, access token
    web_push   web_push_encryption      VAPID, aes128gcm
    ------------------------------
    renewal    a stale token is renewed once
    replacing  collapse keys, by which a repeat replaces the first message
    keys       private keys and credentials out of settings

No push vendor recognises a repeat. With every vendor but Expo a later message can replace an
earlier message: so a repeat is HIDDEN, and VISIBLE with Expo. No push vendor calls back: the client
application reports receipts.
"""
