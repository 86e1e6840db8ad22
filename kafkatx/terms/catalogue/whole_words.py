"""Whole words in a text, as Kafka and people write them: `transactionalId`, `TRANSACTIONAL_ID`, `transactional id`.

Words   are cut at what is no letter or digit and where small letters go over into capitals; LSO is one word, and no
        part of `also`. A phrase stands in a text if it begins and ends with words there, however either is cut.
"""

from functools import cache

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

_WORD = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text in one piece, and where in it they begin and end."""

    letters: str
    edges: frozenset[int]

    def hold(self, phrase: str) -> bool:
        """Tell whether the folded `phrase` stands here, from the beginning of a word to the end of one."""
        start = self.letters.find(phrase) if phrase else -1
        while start >= 0:
            if start in self.edges and start + len(phrase) in self.edges:
                return True
            start = self.letters.find(phrase, start + 1)
        return False


@cache
def words_in(text: str) -> Words:
    """Return the words of a text; no phrase goes over the end of a line."""
    letters, edges = "", {0}
    for line in text.splitlines():
        for word in split(line):
            letters += word
            edges.add(len(letters))
        letters += "\n"
        edges.add(len(letters))
    return Words(letters, frozenset(edges))


def split(text: str) -> tuple[str, ...]:
    """Return the words of a text, in small letters."""
    return tuple(word.casefold() for word in _WORD.findall(text))


def folded(text: str) -> str:
    """Make spellings of one name equal: small letters and digits, and the underscore that begins librdkafka's own."""
    letters = "".join(split(text))
    return f"_{letters}" if letters and text.startswith("_") and not text.startswith("__") else letters
