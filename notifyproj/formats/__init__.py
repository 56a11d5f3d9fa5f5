"""How the admin writes dates and times; Django looks for a package of each language here."""
