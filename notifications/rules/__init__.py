"""Pure decisions: no I/O, no clock, no chance. `now` and every random draw are arguments.

Whatever decides about a delivery stands here, so that it can be read and tested without a database:

    ids         how ids are made and what they tell
    states      the statuses and every legal move between them
    lane        priority, mode and the lane they make with a channel
    retries     when to try again, and when to stop
    breaker     when a provider is given a rest, and how it is asked again
    bucket      how the pace that a vendor allows is shared by the priorities
    unanswered  what to do when a provider never answered
    channels    which channels and contacts a notification goes to
    allowed     who may be reached where not everybody may
    quiet_hours when a person wants no message, and when the next may come
    local_time  what a clock on a wall says, as an instant
    deferral    whether a message waits for its person, why, and until when
    phone       how numbers are stored, and where they are from
    suppression what keeps an address from being used
    keywords    STOP, START and HELP in a text to us
    routing     which providers a delivery tries, in which order
    templating  which templates are safe to render; wording: a text as its channel takes it
    variables   what a template wants of its producers; publishing: why a version may not go out
    locales     which language a person gets, and how it is written
    sms_segments, sms_transliteration, push_size, mail_html, mail_text     what channels take
    short_links which links in an SMS are cut short, and whose clicks count
    template_content, template_files, sms_policy, template_diff, template_preview
                what a version says, as files, what changed, and how it will look
    redaction   what may be logged of an address or an answer
"""
