"""Pages with plots, for the owners of products.

    insights   what was sent, what it cost, and the reactions
    subject    a provider, template, producer or type
    plots      plots that Overview does not have
    reactions  the table of reactions
    urls       the addresses

The frame, the JSON and the other plots are those of Overview
(`notifications.core.admin.monitoring`).
"""
