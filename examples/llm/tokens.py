"""The model's tokens: byte pairs, as GPT-2 has them, with digits each alone."""

import re

# A digit is alone, and spaces before it, too. Python's classes are not quite Unicode's \p{L} and
# \p{N}: they differ on letters such as a superscript.
WORDS = re.compile(
    r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+|\s+(?![^\s\d])|\s+"
)


def characters():
    """The character that stands for each byte in a token."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {b: chr(256 + i) for i, b in enumerate(others)}


class Tokens:
    def __init__(self, fields):
        self.numbers = {t: i for i, t in enumerate(fields["tokenizer.ggml.tokens"])}
        pairs = fields["tokenizer.ggml.merges"]
        self.ranks = {tuple(pair.split(" ")): i for i, pair in enumerate(pairs)}
        self.characters = characters()
        self.known = {}

    def encode(self, text):
        return [number for word in WORDS.findall(text) for number in self.word(word)]

    def word(self, word):
        if word not in self.known:
            parts = [self.characters[byte] for byte in word.encode()]
            self.known[word] = [self.numbers[part] for part in self.merged(parts)]
        return self.known[word]

    def merged(self, parts):
        """Joins the pair of the lowest rank, while there is one."""
        while len(parts) > 1:
            pairs = list(zip(parts, parts[1:]))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            at = pairs.index(best)
            parts = [*parts[:at], "".join(best), *parts[at + 2 :]]
        return parts
