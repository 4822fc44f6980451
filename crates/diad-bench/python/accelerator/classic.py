"""LOF, one-class SVM and the robust covariance (MCD) of scikit-learn, one process a set."""

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TWIN_DEVICE"] = "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import sys, time, numpy as np, multiprocessing as mp

from unpack import load


def work(job):
    path, m = job
    from sklearn.metrics import roc_auc_score, average_precision_score

    X, y = load(path)
    name = os.path.basename(path)[:-4].replace("adbench_", "adbench/")
    r = np.random.RandomState(0)
    sub = lambda k: X if len(X) <= k else X[r.choice(len(X), k, replace=False)]
    try:
        if m == "lof":
            from sklearn.neighbors import LocalOutlierFactor

            if len(X) > 100_000 or len(X) * X.shape[1] > 6_000_000:
                f = LocalOutlierFactor(20, novelty=True).fit(sub(10_000))
                s = -f.score_samples(X)
            else:
                f = LocalOutlierFactor(20).fit(X)
                s = -f.negative_outlier_factor_
        elif m == "ocsvm":
            from sklearn.svm import OneClassSVM

            f = OneClassSVM().fit(sub(5_000))
            s = -np.concatenate([f.score_samples(X[i : i + 20000]) for i in range(0, len(X), 20000)])
        else:
            from sklearn.covariance import MinCovDet

            f = MinCovDet(random_state=0).fit(sub(20_000))
            s = f.mahalanobis(X)
        return f"{name},{m},0,{100 * roc_auc_score(y, s):.3f},{100 * average_precision_score(y, s):.3f}\n"
    except Exception as e:
        return f"# {name},{m}: {e!r}\n"


if __name__ == "__main__":
    data = sys.argv[2]
    files = sorted(os.listdir(data), key=lambda f: os.path.getsize(f"{data}/{f}"))
    out = open(sys.argv[1], "a")
    stop = time.time() + float(sys.argv[3])
    jobs = [(f"{data}/{f}", m) for f in files for m in ("lof", "ocsvm", "mcd")]
    with mp.Pool(14) as pool:
        it = pool.imap_unordered(work, jobs)
        for _ in jobs:
            try:
                out.write(it.next(timeout=max(1, stop - time.time())))
                out.flush()
            except (mp.TimeoutError, StopIteration):
                print("classic: out of time")
                pool.terminate()
                break
    print("classic done", flush=True)
