"""The language that templates are written in: what an author may say, and how a reader reads it.

    templating     a source checked, compiled, rendered
    syntax         which part of Jinja there is
    formats        numbers, money, days and plurals as a reader writes them
    locales        which language a person gets
    known_locales  which languages there are
    variables      what a template wants of its producers: each name, type and example
    missing        what a missing key is called in an error
    needs          what a source cannot do without, where nobody has declared it

Nothing here knows a channel: a source is one string, and so is what comes out. What a channel makes
of it stands in `texts`.
"""
