"""Prints plan/dp/testdata/gaussian.txt: the exact epsilon of Gaussian noise, to 17 digits.

    pip install mpmath
    python gaussian.py > ../../plan/dp/testdata/gaussian.txt

T releases of the noise multiplier sigma spend the least epsilon >= 0 for which delta is at least
Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu), with mu = sqrt(T)/sigma (Balle and
Wang 2018, Theorem 8). The script computes that formula as it stands, with so many digits that
nothing cancels, and bisects.
"""
import mpmath
from mpmath import mpf

mpmath.mp.dps = 60


def delta(mu, epsilon):
    return (mpmath.ncdf(mu / 2 - epsilon / mu)
            - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu))


def spent(sigma, releases, want):
    mu = mpmath.sqrt(releases) / sigma
    if delta(mu, mpf(0)) <= want:
        return mpf(0)
    low, high = mpf(0), mu * (mu / 2 + mpmath.sqrt(-2 * mpmath.log(want)))
    while high - low > mpf(10) ** -22 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta(mu, middle) > want else (low, middle)
    return high


print("# mpmath", mpmath.__version__ + ", 60 digits; made by papers/reference/gaussian.py")
print("# noise releases delta: epsilon")
for sigma in (0.3, 1, 3, 10, 20, 50, 100):
    for releases in (1, 20, 500, 10_000, 100_000):
        for want in (1e-3, 1e-5, 1e-9):  # the floating-point numbers, as the test reads them
            print(sigma, releases, want, mpmath.nstr(spent(mpf(sigma), releases, mpf(want)), 17))
