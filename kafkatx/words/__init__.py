"""How the product speaks: templates over typed facts, the values they print, and the phrases that rules share."""
