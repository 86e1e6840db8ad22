"""From facts to models: instances, epochs, transactions, spans, log extents. Pure."""
