"""Prints plan/dp/testdata/epsilons.txt: what public accountants say of Gaussian noise.

    pip install dp-accounting numpy scipy
    pip download --no-deps opacus==1.6.0     # unzip it: opacus itself would install torch
    python epsilons.py opacus/accountants/analysis/rdp.py > ../../plan/dp/testdata/epsilons.txt

dp-accounting has one accountant of Renyi orders, and one of privacy loss distributions, which is
exact up to its grid and so below every other. Both are pessimistic.
"""
import importlib.metadata
import importlib.util
import sys

import dp_accounting
from dp_accounting import pld, rdp
import numpy

spec = importlib.util.spec_from_file_location("opacus_rdp", sys.argv[1])
opacus = importlib.util.module_from_spec(spec)
spec.loader.exec_module(opacus)

orders = list(1 + numpy.exp(numpy.linspace(-5, 8, 4001)))

print("# dp-accounting", importlib.metadata.version("dp-accounting"), "and opacus 1.6.0;",
      "made by papers/reference/epsilons.py")
print("# noise releases delta: dp-accounting rdp, opacus rdp, dp-accounting pld")
for noise in (0.5, 1, 2, 5, 10, 30, 100):
    for releases in (1, 10, 100, 1000, 10000):
        for delta in (1e-3, 1e-5, 1e-8):
            event = dp_accounting.SelfComposedDpEvent(
                dp_accounting.GaussianDpEvent(noise), releases)
            got = []
            accountant = rdp.RdpAccountant(orders)
            accountant.compose(event)
            got.append(accountant.get_epsilon(delta))
            spent = opacus.compute_rdp(
                q=1.0, noise_multiplier=noise, steps=releases, orders=orders)
            got.append(opacus.get_privacy_spent(orders=orders, rdp=spent, delta=delta)[0])
            if got[0] < 50:
                accountant = pld.PLDAccountant(value_discretization_interval=1e-3)
                accountant.compose(event)
                got.append(accountant.get_epsilon(delta))
                print(noise, releases, delta, *("%.6g" % max(e, 0) for e in got))
