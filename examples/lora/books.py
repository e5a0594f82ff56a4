"""Writes the devices' texts: ten books of ten styles, typed as on a phone, without capitals and
punctuation, as files 0.txt to 9.txt in a directory.

    python3 books.py texts
"""

import argparse
import pathlib
import re

import text


def typed(book):
    """What one types who types no capitals and no punctuation."""
    return re.sub(r"[^a-z \n]", "", book.lower())


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("write", help="a new directory")
    flags.add_argument("--bytes", type=int, help="of each book, at most")
    flags.add_argument("--printed", action="store_true", help="keep capitals and punctuation")
    args = flags.parse_args()
    directory = pathlib.Path(args.write)
    directory.mkdir(parents=True)
    books = text.books()
    for i, name in enumerate(text.STYLES.split()):
        book = books[name] if args.printed else typed(books[name])
        (directory / f"{i}.txt").write_text(book[: args.bytes], encoding="ascii")


if __name__ == "__main__":
    main()
