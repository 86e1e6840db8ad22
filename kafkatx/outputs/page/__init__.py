"""The diagnosis as one page that needs nothing else: words of the text output, pictures drawn as SVG by templates."""
