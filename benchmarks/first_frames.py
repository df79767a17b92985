"""Print, for every explorable, the seconds of processor time until its first picture, in a kernel that is warm.

Each is drawn in a process of its own, forked from one that has imported everything and drawn something else.
"""

import os
import time
from importlib import import_module

import torch

from rankedu.book.explorables import all_explorables
from rankedu.book.figures import style


def warm_up():
    """What cells before have done: libraries are imported, fonts are loaded, NumPy and torch have worked."""
    figure, axes = style.figure()
    axes.plot([0, 1], label="a line")
    axes.set_xlabel(r"$\lambda$")
    axes.legend()
    style.png(style.describe(figure, "a line"))
    import_module("pytorch_metric_learning.losses")
    leaf = torch.rand(64, requires_grad=True)
    torch.optim.Adam([leaf])
    leaf.sort().values.sum().backward()


def seconds(explorable):
    """Draw the first frame in a child, which has nothing in its caches."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        start = time.process_time()
        explorable.png(tuple(explorable.defaults.values()))
        os.write(writer, str(time.process_time() - start).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as told:
        return float(told.read())


def main():
    torch.set_num_threads(1)
    found = all_explorables()
    warm_up()
    for name, explorable in found.items():
        print(f"{min(seconds(explorable) for _ in range(2)):.3f} {name}")


if __name__ == "__main__":
    main()
