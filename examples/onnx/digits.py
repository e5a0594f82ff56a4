"""Draws digits with a pen of numpy, so that the example needs no data set.

A digit is one or two strokes. Each drawing shakes their points, stretches, turns and shears them,
and follows them with a pen of some width. Nothing is read from anywhere: a seed is a data set.
"""

import numpy as np

SIZE = 28  # pixels, each way

# Ways to write each digit: strokes of points x y, in hundredths of a box, y down.
STYLES = [
    [["52 01 24 13 11 50 24 88 50 99 78 86 89 50 77 13 50 01"]],
    [["50 00 50 50 50 99"], ["26 26 52 00 52 50 52 99"], ["28 22 52 00 51 97", "25 98 78 97"]],
    [["16 26 30 05 60 01 82 22 70 50 40 78 13 98 90 96"],
     ["18 20 45 01 74 10 74 40 45 75 20 95 10 84 28 76 55 92 92 96"]],
    [["18 12 50 00 78 20 66 42 42 48 72 56 84 77 60 98 30 98 11 84"],
     ["17 03 80 03 45 40 76 52 82 78 52 99 14 90"]],
    [["22 00 16 30 13 56 50 55 86 52", "70 05 68 50 66 99"],
     ["64 00 10 66 93 65", "64 00 63 50 62 99"]],
    [["25 03 20 45 52 39 82 62 72 90 40 99 13 90", "25 03 84 01"],
     ["83 02 30 05 24 43 60 45 80 70 60 96 15 96"]],
    [["72 02 36 25 17 65 30 95 62 98 82 76 62 53 34 58 20 76"],
     ["40 00 26 35 22 75 42 99 70 90 76 68 54 54 30 68 25 80"]],
    [["12 04 86 03 58 50 40 99"], ["14 04 84 04 56 50 40 99", "30 50 78 47"]],
    [["74 14 46 00 22 19 46 44 76 70 62 97 30 95 20 72 50 45 76 22 64 05"]],
    [["78 20 52 02 22 25 38 50 70 38 80 14 74 60 60 99"],
     ["76 24 48 01 20 22 34 48 64 42 78 18 80 55 62 94 24 95"]],
]


def draw(count, seed):
    """Returns count images of SIZE x SIZE bytes, white ink on black, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    images = np.stack([_digit(rng, STYLES[label]) for label in labels])
    return images, labels.astype(np.uint8)


def _digit(rng, styles):
    place, middle = _place(rng), (SIZE - 1) / 2 + rng.normal(0, 1.0, 2)
    ink = np.zeros((SIZE, SIZE), np.float32)
    radius = rng.uniform(0.8, 1.6)
    for stroke in styles[rng.integers(len(styles))]:
        points = np.array(stroke.split(), float).reshape(-1, 2) / 100 - 0.5
        points = (points + rng.normal(0, 0.035, points.shape)) @ place + middle
        ink = np.maximum(ink, _line(_smooth(points), radius))
    seen = ink * rng.uniform(210, 255) + rng.uniform(0, 12, ink.shape)
    return seen.clip(0, 255).astype(np.uint8)


def _place(rng):
    """The map of the unit box to pixels: stretched, sheared, turned."""
    height = rng.uniform(17, 21)
    stretch = np.diag([height * rng.uniform(0.6, 0.9), height])
    shear = np.array([[1, 0], [-rng.normal(0, 0.15), 1]])
    a = rng.normal(0, 0.1)
    return shear @ stretch @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])


def _smooth(points):
    """Cuts the corners of a line (Chaikin). The ends stay."""
    a, b = points[:-1], points[1:]
    cut = np.stack([0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b], 1).reshape(-1, 2)
    return np.concatenate([points[:1], cut, points[-1:]])


# Where the pixels are, as complex numbers: x to the right, y down.
GRID = np.add.outer(1j * np.arange(SIZE), np.arange(SIZE)).reshape(-1, 1).astype(np.complex64)


def _line(points, radius):
    """The ink of a line through points: 1 within the radius, soft at the edge."""
    points = (points[:, 0] + 1j * points[:, 1]).astype(np.complex64)
    a, ab = points[:-1], np.diff(points)
    gap = GRID - a
    along = (gap * ab.conj()).real / np.maximum(abs(ab) ** 2, 1e-9)
    distance = abs(gap - along.clip(0, 1) * ab).min(1)
    return (radius + 0.5 - distance).clip(0, 1).reshape(SIZE, SIZE)
