"""The loops over data. Each is one plain function, and names the declaration it must equal."""
