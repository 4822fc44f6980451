"""Tables as `pack.py` writes them."""

import numpy as np


def load(path):
    """The rows and their labels."""
    z = np.load(path)
    n = int(z["n"])
    y = np.unpackbits(z["y"])[:n]
    two = z["two"]
    X = np.empty((n, len(two)), np.float32)
    rest = z["rest"]
    if rest.dtype == np.uint8:
        rest = (rest.astype(np.uint32) << np.array([8, 16, 24], np.uint32)[:, None, None]).sum(0, dtype=np.uint32).view(np.float32)
    X[:, ~two] = rest.T
    X[:, two] = np.unpackbits(z["bits"], axis=0)[:n].astype(np.float32) * 2 - 1
    return X, y
