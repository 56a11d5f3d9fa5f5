"""What every vendor of Amazon's cloud shares. Not a vendor itself: no NAME, nothing to configure.

    settings      the account: region, endpoint, keys
    credentials   keys from the settings, else botocore's chain, looked up beside the hot path
    signing       Signature Version 4
    faults        what a refusal says, in all three protocols, and what it means
    service       signed calls over our transport: many in flight, one outcome per message
    texts         what its two ways to send a text message share
    topics        what SNS posts to us: verified before anything else is read
    certificates  what it is verified with

botocore finds credentials and nothing else, and is imported when they are first needed (10 MiB).
Its HTTP client retries in secret and costs 20 times our transport's CPU. Its signer takes 48 us a
request where ours takes 8, and is what ours is tested against.
"""
