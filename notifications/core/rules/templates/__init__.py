"""Content of a template's versions, for authors; no message uses these modules.

    contents     all texts and settings of one version
    file_format  the same as files, for git; `sms_policy`: settings that its SMS share
    diff         the differences between two versions
    previews     a version rendered with samples
    publishing   why a version may not be published
    derived      declarations derived from the texts, for an author to confirm
    one_off      names of the texts that are written for one bulk job

`store.templates` has authors, times and the current version.
"""
