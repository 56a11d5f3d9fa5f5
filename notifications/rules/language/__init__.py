"""The template language.

    templating     checks, compiles and renders a source
    syntax         the permitted part of Jinja
    formats        numbers, money, days and plurals in the recipient's language
    locales        choice of the recipient's language
    variables      declared variables: name, type and example
    missing        the name of a missing key in an error
    needs          variables required by a source without declarations

The modules are independent of channels: a source is a string, and so is the result.
"""
