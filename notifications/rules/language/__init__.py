"""The language that templates are written in.

    templating     a source checked, compiled, rendered
    syntax         the part of Jinja that templates may use
    formats        numbers, money, days and plurals in the reader's language
    locales        which language a recipient gets
    variables      declared variables: name, type and example
    missing        the name of a missing key in an error
    needs          variables that a source needs, where none are declared

No module here knows a channel: a source is one string, and so is its result.
"""
