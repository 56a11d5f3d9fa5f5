"""What a version of a template says, while people work on it; no message asks here.

    contents     all the texts and settings of one version
    file_format  the same as files, for git; `sms_policy` is how they say what their SMS share
    diff         what changed between two of them
    previews     how one will read for somebody
    publishing   why one may not go out

Who wrote a version, when, and which one is current: `store.templates`.
"""
