"""From facts to stories: instances, epochs, transactions, spans, horizons. Pure."""
