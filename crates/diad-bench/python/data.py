"""The folder of data sets that the benchmarks read: rebuilt from public sources, and checked.

    python data.py build DIR     downloads and prepares every set that can be had without an account
    python data.py check DIR     compares every file with bench/data.csv: rows, columns, anomalies and a digest of all values
    python data.py digest DIR    prints the lines of bench/data.csv for the files there are

Needs numpy, scipy and pyarrow. docs/data.md says for every set where it comes from, under which licence, and what is done by hand.
"""

import csv
import hashlib
import io
import lzma
import sys
import tarfile
import urllib.request
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TABLE = Path(__file__).resolve().parents[3] / "bench" / "data.csv"
ADBENCH = "https://raw.githubusercontent.com/Minqi824/ADBench/main/adbench/datasets/Classical/"
PIDFOREST = "https://raw.githubusercontent.com/vatsalsharan/pidforest/master/data/"
ADREPOSITORY = "https://raw.githubusercontent.com/GuansongPang/ADRepository-Anomaly-detection-datasets/main/"
BACKDOOR = "numerical%20data/DevNet%20datasets/UNSW_NB15_traintest_backdoor.tar.xz"

# Files of ADBench, by where they lie in the folder.
FROM_ADBENCH = {
    "vowels": "40_vowels", "musk": "25_musk", "satimage-2": "31_satimage-2", "thyroid": "2_annthyroid",
    "mammography": "23_mammography", "campaign": "5_campaign", "smtp": "34_smtp", "celeba": "8_celeba",
    "http": "16_http", "donors": "11_donors", "extra/cover": "10_cover", "extra/pendigits": "28_pendigits",
    "extra/shuttle": "32_shuttle", "extra/letter": "20_letter", "extra/magic.gamma": "22_magic.gamma",
    "extra/satellite": "30_satellite", "extra/InternetAds": "17_InternetAds", "extra/Lymphography": "21_Lymphography",
    "adbench/ALOI": "1_ALOI", "adbench/Cardiotocography": "7_Cardiotocography", "adbench/Hepatitis": "15_Hepatitis",
    "adbench/Ionosphere": "18_Ionosphere", "adbench/PageBlocks": "27_PageBlocks", "adbench/Pima": "29_Pima",
    "adbench/SpamBase": "35_SpamBase", "adbench/Stamps": "37_Stamps", "adbench/WBC": "42_WBC",
    "adbench/WDBC": "43_WDBC", "adbench/WPBC": "46_WPBC", "adbench/Waveform": "41_Waveform",
    "adbench/Wilt": "44_Wilt", "adbench/breastw": "4_breastw", "adbench/cardio": "6_cardio",
    "adbench/fault": "12_fault", "adbench/glass": "14_glass", "adbench/mnist": "24_mnist",
    "adbench/optdigits": "26_optdigits", "adbench/skin": "33_skin", "adbench/vertebral": "39_vertebral",
    "adbench/wine": "45_wine", "adbench/yeast": "47_yeast",
}

# Series of the Numenta Anomaly Benchmark as PIDForest ships them.
SERIES = {
    "at": "ambient_temperature_system_failure", "nyc": "nyc_taxi", "cpu": "cpu_utilization_asg_misconfiguration",
    "mt": "machine_temperature_system_failure",
}
SHINGLE = 10


def fetch(address):
    with urllib.request.urlopen(address, timeout=300) as answer:
        return answer.read()


def write(folder, name, columns, labels, names=None):
    """Features as doubles, then the labels. An older file of the same name is replaced only when the new one is whole."""
    names = names or [f"f{place}" for place in range(len(columns))]
    table = pa.table([*map(pa.array, columns), pa.array(labels.astype(np.uint8))], names=[*names, "label"])
    target = folder / f"{name}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    pq.write_table(table, part, compression="zstd")
    part.replace(target)
    print(f"{name}: {table.num_rows} rows, {int(labels.sum())} anomalies", flush=True)


def adbench(folder, name):
    # NumPy's own format without pickled objects: allow_pickle stays off.
    stored = np.load(io.BytesIO(fetch(f"{ADBENCH}{FROM_ADBENCH[name]}.npz")))
    write(folder, name, list(stored["X"].astype(float).T), stored["y"].astype(int))


def siesmic(folder):
    from scipy.io import loadmat

    stored = loadmat(io.BytesIO(fetch(f"{PIDFOREST}siesmic.mat")))
    write(folder, "siesmic", list(stored["X"].astype(float).T), stored["y"].ravel().astype(int))


def series(folder, name):
    """Row i holds the values i to i + 9 and the label of the first."""
    rows = list(csv.DictReader(fetch(f"{PIDFOREST}numenta/{SERIES[name]}.csv").decode().splitlines()))
    values = np.array([float(row["value"]) for row in rows])
    labels = np.array([int(float(row["label"])) for row in rows])
    count = len(values) - SHINGLE + 1
    columns = [values[place : place + count] for place in range(SHINGLE)]
    write(folder, name, columns, labels[:count], [f"t{place}" for place in range(SHINGLE)])


def backdoor(folder):
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(fetch(ADREPOSITORY + BACKDOOR)))) as archive:
        member = next(member for member in archive.getmembers() if member.name.endswith(".csv"))
        rows = list(csv.reader(io.TextIOWrapper(archive.extractfile(member))))
    values = np.array(rows[1:], dtype=float)
    write(folder, "backdoor", list(values[:, :-1].T), values[:, -1].astype(int), rows[0][:-1])


BY_HAND = {
    "fraud": "download creditcard.csv of the ULB Machine Learning Group (an account is needed) and drop the column Time",
    "census": "join the two files of UCI's Census-Income (KDD) as docs/data.md says",
}


def build(folder):
    jobs = {name: (lambda name=name: adbench(folder, name)) for name in FROM_ADBENCH}
    jobs |= {name: (lambda name=name: series(folder, name)) for name in SERIES}
    jobs |= {"siesmic": lambda: siesmic(folder), "backdoor": lambda: backdoor(folder)}
    failed = 0
    for name, job in jobs.items():
        if (folder / f"{name}.parquet").exists():
            continue
        try:
            job()
        except (OSError, KeyError, ValueError, StopIteration) as error:
            failed += 1
            print(f"{name} could not be made: {error}", file=sys.stderr)
    for name, how in BY_HAND.items():
        if not (folder / f"{name}.parquet").exists():
            print(f"{name} is made by hand: {how}", file=sys.stderr)
    return failed


def describe(path):
    """Rows, features, anomalies and the digest: SHA-256 of all columns as little-endian doubles, the first 16 digits."""
    table = pq.read_table(path)
    digest = hashlib.sha256()
    for name in table.column_names:
        digest.update(np.ascontiguousarray(table[name].to_numpy(), dtype="<f8").tobytes())
    anomalies = int(np.asarray(table["label"]).sum())
    return [str(table.num_rows), str(table.num_columns - 1), str(anomalies), digest.hexdigest()[:16]]


def check(folder):
    wrong = 0
    with open(TABLE, newline="") as lines:
        for row in csv.DictReader(lines):
            path = folder / row["file"]
            if not path.exists():
                print(f"{row['file']}: not there")
                wrong += 1
                continue
            found = describe(path)
            wanted = [row[key] for key in ("rows", "features", "anomalies", "digest")]
            if found == wanted:
                print(f"{row['file']}: as it should be")
            elif found[:3] == wanted[:3]:
                print(f"{row['file']}: the counts agree, some values differ")
                wrong += 1
            else:
                print(f"{row['file']}: {found} instead of {wanted}")
                wrong += 1
    return wrong


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("build", "check", "digest"):
        sys.exit(__doc__)
    folder = Path(sys.argv[2])
    if sys.argv[1] == "digest":
        for path in sorted(folder.rglob("*.parquet")):
            print(",".join([str(path.relative_to(folder)), *describe(path)]))
        return
    sys.exit(1 if (build if sys.argv[1] == "build" else check)(folder) else 0)


if __name__ == "__main__":
    main()
