"""Digests: one message in place of several to a recipient.

    gate    holds e-mails for the digest that the recipient chose for a topic, and messages of
            types with a batch window
    merge   one digest in place of deliveries that the gate or a frequency cap held
    sweep   merges what is due
    rules   the variables of a digest

The core keeps the choice of the recipient, the digest template of a type, and the frequency caps.
Without the app, no topic offers a digest, no type has a batch window, and held messages leave
singly.
"""
