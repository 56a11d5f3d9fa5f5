"""Shared parts of the AWS vendors. The package is no vendor: no NAME, no settings of its own.

    settings      the account: region, endpoint, keys
    credentials   keys from the settings, else botocore's chain, looked up in the background
    faults        error answers of all three protocols, and their outcomes
    service       signed calls over the transport: many in flight, one outcome per message;
                  Signature Version 4
    texts         shared parts of the two SMS vendors
    topics        posts of SNS: the signature is verified first
    certificates  certificates of the signatures

botocore finds credentials only, and is imported at the first use of credentials (10 MiB).
botocore's HTTP client retries without notice and costs 20 times the CPU of `transport`. botocore's
signer takes 48 us a request, `service.Signer` takes 8 us; the tests compare both.
"""
