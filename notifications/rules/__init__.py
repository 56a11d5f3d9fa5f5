"""Pure decisions: no I/O, no clock, no chance. `now` and every random draw are arguments.

Whatever decides about a delivery stands here, so that it can be read and tested without a database:

    ids         how ids are made and what they tell
    states      the statuses and every legal move between them
    lane        priority, mode and the lane they make with a channel
    request     what a producer may ask for; problems: what is wrong with it
    channels    which channels and contacts a notification goes to
    allowed     who may be reached where not everybody may
    phone       how numbers are stored, and where they are from
    suppression what keeps an address from being used
    keywords    STOP, START and HELP in a text to us
    caps        how much a person gets; digest: one message in place of many
    order       when the next of a line looks again
    routing     which providers a delivery tries, in which order
    bucket      how the pace that a vendor allows is shared by the priorities
    breaker     when a provider is given a rest, and how it is asked again
    concurrency how many calls may be in flight at a provider
    retries     when to try again, and when to stop
    unanswered  what to do when a provider never answered
    letters     which dead letters an operator means
    redaction   what may be logged of an address or an answer

What there is more to say about has a package, each with a map of its own:

    times       when: quiet hours, wall clocks, recurrence
    language    what templates are written in: syntax, formats, locales, variables
    texts       a text as its channel takes it: mail, SMS, push
    templates   what a version says: as files, what changed, how it will look, why it may not go out

`templates` uses `texts`, `texts` uses `language`, and never back.
"""
