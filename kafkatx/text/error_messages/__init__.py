"""What messages of clients and brokers say beside the name of an error, in the words of all libraries.

All       sayings: texts that stand inside messages of others, which decide by themselves.
Of kinds  refusals: settings, rights, abilities; misuses: calls in a wrong state; breaks: connections; sizes: records
          and batches that are too large.
"""
