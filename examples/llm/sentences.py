"""Rated sentences about films, from the archive of vaderSentiment 0.5 (MIT), and who has which.

They are of Rotten Tomatoes (Pang and Lee 2005), as those of SST-2. The label is the sign of the
mean of 20 people's ratings; those nearer to zero than 0.5 are left out, as in SST-2.
"""

import io
import tarfile
import zipfile

import numpy as np

LEAST = 0.5
INSIDE = "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt"


def load(archive):
    """Returns the sentences and their labels, 1 for praise."""
    with zipfile.ZipFile(archive) as outer:
        name = next(n for n in outer.namelist() if n.endswith("hutto_ICWSM_2014.tar.gz"))
        inner = tarfile.open(fileobj=io.BytesIO(outer.read(name)))
    lines = inner.extractfile(INSIDE).read().decode("latin-1").splitlines()
    rated = [line.split("\t") for line in lines]
    rated = [(float(mean), text.strip()) for _, mean, text in rated if abs(float(mean)) >= LEAST]
    return [text for _, text in rated], np.array([int(mean > 0) for mean, _ in rated])


def split(labels, devices, each, test, alpha=1.0, seed=7):
    """Indices of held-out sentences, and those of each device.

    The share of praise of a device is drawn from Dirichlet(alpha, alpha), as DeComFL's clients have
    it, but no device has fewer than one sentence in 16 of a label.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    held, rest = order[:test], order[test:]
    pools = [list(rest[labels[rest] == label]) for label in (0, 1)]
    shards = []
    for _ in range(devices):
        share = rng.dirichlet([alpha, alpha])[1]
        praise = int(np.clip(round(share * each), each // 16, each - each // 16))
        counts = (each - praise, praise)
        shards.append(np.array([pool.pop() for pool, n in zip(pools, counts) for _ in range(n)]))
    return held, shards
