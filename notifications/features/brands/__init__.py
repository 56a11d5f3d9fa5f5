"""Brands: the look of a producer's mails and pages, and the sender of its e-mails (docs/brands.md).

    admin/  api/ ── checks ──> row of `brand` ── rows.of ──> rules.brand.Brand
                                                    |── delivery, previews, pages for recipients
    admin/ <── preview: a sample mail as programs show it ──'

The row without a producer is the brand of the installation, which producers without a row have.
Each process reads the table once a second at most, so a change acts within two seconds.
"""
