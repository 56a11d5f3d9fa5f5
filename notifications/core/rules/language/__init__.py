"""The template language.

    templating      checks, compiles and renders a source
    syntax          the permitted part of Jinja
    text_parts      filters and slices that keep grapheme clusters whole
    comparisons     limits on comparisons of lists and texts
    formats         numbers, money, days and plurals in the recipient's language
    locales         choice of the recipient's language
    page_languages  languages of the pages for recipients
    variables       declared variables: name, type and example
    missing         the name of a missing key in an error
    plain_faults    errors of Jinja in words for authors
    needs           variables required by a source without declarations

The modules are independent of channels: a source is a string, and so is the result.
"""
