"""Small histories of transactions, as programs print them: what each text must be read as is known."""
