"""Files for translators: the texts of a template in one language, and their translations.

    TextSource -> units (`units`, `block_units`) -> XLIFF 1.2 (`xliff`) or CSV (`unit_csv`)
    file -> translations by unit -> checked (`units`) -> TextSource in the language of the file

`placeholders` finds the parts of a unit that a translator must not change.
"""
