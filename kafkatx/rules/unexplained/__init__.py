"""Failures without a cause that no line of a program names: lines in unknown words, and what people write."""
