"""What messages of clients and brokers say beside the name of an error, in the words of all libraries."""
