"""SMS gateways as data: one adapter, and a description in TOML for each gateway.

    sinch.toml ---.
    infobip.toml -+-> description   the keys of a description, and the errors of a wrong one
    own folder ---'        |
                        vendors     files -> settings and vendors of the registry
                           |
                        gateway     a message -> a request; an answer -> an outcome
                        receipts    a callback -> receipts
                           |------> places, paths   `{to}` in a request, `messages.0.id` in answers
           '------> hiding          no number, text or secret of a request in details

The files of this folder are written from the public documents of the vendors, which each file
names; nobody tried the files with an account. `NOTIFY_SMS_GATEWAYS` names a folder with files of
the company. A file there with the name of a file here replaces it.

The language has no expressions and no conditions. A gateway that needs one needs an adapter in
Python (ADDING_A_PROVIDER.md).
"""
