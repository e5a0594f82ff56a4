"""What the program says, in the words of this package."""

from __future__ import annotations

import re

_END = r"(?=[,:;.)`?]*(?:\s|$))"  # of a word: not the signs after it
_SET = re.compile(r"--set[ =]'?([a-z_0-9]+)(=[^\s']+?)?'?" + _END)
_FLAG = re.compile(r"--([a-z][a-z0-9-]*)(?:([= ])(?!--)(\S+?))?" + _END)
_CALL = re.compile(r"\bzofl (plan|serve|simulate|tune|export)((?: [a-z_0-9]+=\S*?" + _END + ")+)")
_SWITCHES = {"allow-unsynced", "begin-anew", "jetstream", "plaintext", "tls", "tls-first",
             "trust-coordinator"}
_PROSE = {"again", "either", "first", "only", "too", "twice"}
_TERMINAL = {"explain", "fields", "help", "json", "write"}  # there is nothing like them in Python


def spoken(text: str) -> str:
    """A text with Python's names of arguments: --tls-ca a.pem is tls_ca=a.pem."""
    text = re.sub(r"[;:,] see zofl[a-z ]* --help", "", text)
    text = _SET.sub(lambda m: f"{m[1]}{m[2] or '='}", text)
    text = _FLAG.sub(_argument, text)
    return _CALL.sub(lambda m: f"zofl.{m[1]}({', '.join(m[2].split())})", text)


def _argument(found: re.Match[str]) -> str:
    name, between, word = found[1], found[2], found[3] or ""
    if name in _TERMINAL:
        return found[0]
    name = name.replace("-", "_") + "="
    if not between and found.string[found.end():found.end() + 1] == ":":
        return name[:-1]
    if between == "=":
        return name + {"true": "True", "false": "False"}.get(word, word)
    rest = f" {word}" if word else ""
    if found[1] in _SWITCHES:
        return f"{name}True{rest}"
    named = re.search(r"[A-Z0-9./_*@'\"]", word) or (
        word not in _PROSE and found.string[found.end():found.end() + 1] in {",", ":"})
    return name + word if named else name + rest
