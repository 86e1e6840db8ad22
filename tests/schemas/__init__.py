"""JSON Schemas of what commands print: made of the types that outputs render, held to recorded outputs."""
