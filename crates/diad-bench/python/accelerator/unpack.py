"""Tables as `pack.py` writes them."""

import numpy as np


def load(path):
    """The rows and their labels."""
    z = np.load(path)
    n = int(z["n"])
    y = np.unpackbits(z["y"])[:n]
    two = z["two"]
    X = np.empty((n, len(two)), np.float32)
    X[:, ~two] = z["rest"].T
    X[:, two] = np.unpackbits(z["bits"], axis=0)[:n].astype(np.float32) * 2 - 1
    return X, y
