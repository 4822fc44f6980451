"""Packs data sets for the machine with the accelerator: columns of two values as bits, the others as floats, of which large sets keep three bytes.

python pack.py DATA OUT thyroid adbench/wine ...
"""

import os
import sys

import numpy as np
import pyarrow.parquet as pq


# Sets with more numbers than this lose the last byte of each (a relative error of 8e-6), which does not compress.
LARGE = 5_000_000


def scaled(values):
    """Each column on [-1, 1]."""
    low, high = values.min(0), values.max(0)
    return ((values - low) / np.where(high > low, high - low, 1) * 2 - 1).astype(np.float32)


def main():
    source, target = sys.argv[1:3]
    os.makedirs(target, exist_ok=True)
    for name in sys.argv[3:]:
        table = pq.read_table(f"{source}/{name}.parquet")
        labels = table["label"].to_numpy().astype(np.uint8)
        columns = [table[column].to_numpy().astype(float) for column in table.column_names if column != "label"]
        values = scaled(np.column_stack(columns))
        two = np.array([len(np.unique(column)) <= 2 for column in values.T])
        rest = np.ascontiguousarray(values[:, ~two].T)
        if rest.size > LARGE:
            rest = ((rest.view(np.uint32) + 0x80) >> 8)[..., None] >> np.array([0, 8, 16], np.uint32) & 0xFF
            rest = np.ascontiguousarray(np.moveaxis(rest.astype(np.uint8), -1, 0))
        np.savez_compressed(
            f"{target}/{name.replace('/', '_')}.npz",
            y=np.packbits(labels),
            n=len(labels),
            two=two,
            bits=np.packbits(values[:, two] > 0, axis=0),
            rest=rest,
        )


if __name__ == "__main__":
    main()
