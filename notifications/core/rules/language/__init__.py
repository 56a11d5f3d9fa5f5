"""The template language.

    templating      checks, compiles and renders a source
    code_generator  generated code of templates with few calls of Python functions
    syntax          the permitted part of Jinja
    rewrites        the cost of comparisons of lists and texts, and the name of a missing key
    formats         numbers, money, days and plurals in the recipient's language; filters and slices
                    that keep grapheme clusters whole
    addresses       schemes of a link or an image whose address a variable begins
    link_targets    links of rendered HTML that would run a script
    locales         choice of the recipient's language
    page_languages  languages of the pages for recipients
    variables       declared variables: name, type and example
    plain_faults    errors of Jinja in words for authors

The modules are independent of channels: a source is a string, and so is the result.
"""
