"""Push: FCM, APNs and Web Push.

    fcm        fcm_body, fcm_token      HTTP v1, service account
    apns       apns_token               HTTP/2, ES256 token
    web_push   web_push_encryption      VAPID, aes128gcm
    ------------------------------
    renewal    a token that the vendor calls stale is renewed once
    replacing  what makes a repeat replace the first where the person looks
    keys       private keys and credentials out of settings

None of the three recognises a repeat, but each lets a later message take the place of an earlier
one: so a repeat is HIDDEN. None gives receipts: what reached the person is known from our client.
"""
