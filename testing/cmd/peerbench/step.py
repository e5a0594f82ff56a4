"""What a DeComFL device does in a round beside its loss, in torch: the operations
of the published code (P=10, K=1, central differences, SGD) on one flat vector. For
each perturbation a normal vector, three additions of it to the parameters and one
to the gradient; then the step. Prints medians, to set beside

    go test -run xxx -bench Step ./client

    python3 testing/cmd/peerbench/step.py [threads]
"""
import statistics, sys, time

import torch

P, MU, STEP = 10, 1e-3, 1e-3


def step(x, seed):
    source, gradient = torch.Generator().manual_seed(seed), None
    for _ in range(P):
        z = torch.randn(x.numel(), generator=source)
        for back_and_forth in (MU, -2 * MU, MU):
            x.add_(z, alpha=back_and_forth)
        z.mul_(0.5)  # a scalar of the loss
        gradient = z if gradient is None else gradient.add_(z)
    x.add_(gradient, alpha=-STEP / P)


torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
print("torch", torch.__version__, "threads", torch.get_num_threads())
for d, rounds in ((28_938, 101), (1_206_590, 15), (10_000_000, 7)):
    x, took = torch.zeros(d), []
    for seed in range(rounds):
        before = time.perf_counter()
        step(x, seed)
        took.append(time.perf_counter() - before)
    print(f"d = {d}: {1e3 * statistics.median(took):.2f} ms")
