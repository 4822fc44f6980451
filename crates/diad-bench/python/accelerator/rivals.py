"""Deep rivals of tabular anomaly detection in plain PyTorch, several seeds at once (every weight has a leading seed axis).
Written from the papers; where a limit of steps is named, longer training of the authors is cut to it.
  icl      Shenkar and Wolf, ICLR 2022 (the DIAD paper's SCAD)      neutral  Qiu et al., ICML 2021, settings of the authors for thyroid ("t") and KDD ("k")
  goad     Bergman and Hoshen, ICLR 2020                           dagmm    Zong et al., ICLR 2018
  svdd     Ruff et al., ICML 2018                                  dte      Livernoche et al., ICLR 2024 (DTE-C)
  devnet   Pang et al., KDD 2019 (labels)                          deepsad  Ruff et al., ICLR 2020 (labels)
  vime     Yoon et al., NeurIPS 2020, the semi-supervised loss with K masks, on a plain network (labels)
"""

import math, os, sys, time, torch, torch.nn.functional as F
from twin import DEV, load, metrics

S = int(os.environ.get("RIVAL_SEEDS", 3))


class Linear:
    """[S, n, i] -> [S, n, o]; torch's own start."""

    def __init__(s, i, o, P, bias=True, lead=(S,)):
        k = 1 / math.sqrt(i)
        s.w = ((torch.rand(*lead, i, o, device=DEV) * 2 - 1) * k).requires_grad_()
        P.append(s.w)
        s.b = ((torch.rand(*lead, 1, o, device=DEV) * 2 - 1) * k).requires_grad_() if bias else None
        if bias:
            P.append(s.b)

    def __call__(s, x):
        y = x @ s.w
        return y if s.b is None else y + s.b


def mlp(sizes, P, act, bias=True, lead=(S,)):
    L = [Linear(a, b, P, bias, lead) for a, b in zip(sizes, sizes[1:])]

    def f(x):
        for i, l in enumerate(L):
            x = l(x)
            if i + 1 < len(L):
                x = act(x)
        return x

    return f


def standard(x):
    """Batch normalisation without learned parameters, over the rows."""
    return (x - x.mean(-2, keepdim=True)) / (x.var(-2, unbiased=False, keepdim=True) + 1e-5).sqrt()


def train(P, loss, steps, lr, l2=0.0, deadline=None):
    opt = torch.optim.Adam(P, lr=lr, weight_decay=l2, capturable=DEV == "cuda")

    def step():
        opt.zero_grad(set_to_none=True)
        loss().backward()
        opt.step()

    if DEV == "cpu":
        for _ in range(steps):
            step()
        return
    st = torch.cuda.Stream()
    st.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(st):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(st)
    g = torch.cuda.CUDAGraph()
    opt.zero_grad(set_to_none=True)
    with torch.cuda.graph(g):
        loss().backward()
        opt.step()
    for i in range(steps):
        g.replay()
    torch.cuda.synchronize()


def draw(X, B):
    n = X.shape[0]
    return lambda: X[torch.randint(n, (S, min(B, n)), device=DEV)]


@torch.no_grad()
def score(f, X, chunk=4096):
    # In a random order: networks that standardise over the rows of a chunk must see chunks that are alike.
    order = torch.randperm(X.shape[0], device=DEV)
    out = torch.empty(S, X.shape[0], device=DEV)
    for i in range(0, X.shape[0], chunk):
        out[:, order[i : i + chunk]] = f(X[order[i : i + chunk]].unsqueeze(0).expand(S, -1, -1))
    return out


def zscore(X):
    return (X - X.mean(0)) / X.std(0).clamp(min=1e-6)


def epochs(n, B, e, cap):
    return int(max(200, min(cap, e * max(1, n // B))))


def icl(X, y, cap=1000):
    n, D = X.shape
    k = 2 if D < 40 else 10 if D <= 160 else D - 150
    if D <= 3:
        k = 1
    m = D - k + 1
    P = []
    big = D >= 40
    windows = torch.stack([torch.arange(i, i + k) for i in range(m)]).to(DEV)
    rest = torch.stack([torch.tensor([j for j in range(D) if j < i or j >= i + k]) for i in range(m)]).to(DEV)
    f1 = mlp([D - k, 200, 200, 200], P, lambda x: F.leaky_relu(standard(torch.tanh(x)), 0.2))
    f2 = mlp([k, 50, 100, 200], P, lambda x: F.leaky_relu(standard(torch.tanh(x)), 0.2))
    B = 3000 if D < 40 else max(64, int(3000 * 40 / m / 2))
    get = draw(X, min(B, 1024))

    def each(x):
        s, b = x.shape[:2]
        q = F.normalize(f1(x[:, :, rest].reshape(s, b * m, D - k)).view(s, b, m, -1), dim=-1)
        p = F.normalize(f2(x[:, :, windows].reshape(s, b * m, k)).view(s, b, m, -1), dim=-1)
        sim = q @ p.transpose(-1, -2) / 0.1
        return (sim.logsumexp(-1) - sim.diagonal(dim1=-2, dim2=-1)).mean(-1)

    train(P, lambda: each(get()).mean(-1).sum(), cap, 1e-3)
    return score(each, X, max(64, min(2048, 400_000 // max(1, m * (D if big else 40)))))


def neutral(X, y, cap=4000, kdd=False):
    n, D = X.shape
    K = 11
    P = []
    B = 1000 if kdd else 128
    z, h, t = (32, 64, 100) if kdd else (24, 24, 24)
    enc = mlp([D] + [h] * 4 + [z], P, F.relu, bias=False)
    tr = mlp([D, t, D], P, F.relu, bias=False, lead=(S, K))
    get = draw(X, B)

    def each(x):
        m = tr(x.unsqueeze(1))
        xt = torch.sigmoid(m) * x.unsqueeze(1) if kdd else m + x.unsqueeze(1)
        v = torch.cat([x.unsqueeze(1), xt], 1)
        s, k, b, _ = v.shape
        e = F.normalize(enc(v.reshape(s, k * b, D)).view(s, k, b, -1).transpose(1, 2), dim=-1)
        sim = e @ e.transpose(-1, -2) / 0.1
        pos = sim[:, :, 1:, 0]
        other = sim.masked_fill(torch.eye(k, dtype=torch.bool, device=DEV), -1e9)[:, :, 1:].logsumexp(-1)
        return (other - pos).sum(-1) / (K * math.log(K))

    train(
        P,
        lambda: each(get()).mean(-1).sum(),
        epochs(n, B, 10 if kdd else 200, cap),
        5e-4 if kdd else 1e-3,
        0.0 if kdd else 1e-5,
    )
    return score(each, X, 8192)


def goad(X, y, cap=2000):
    n, D = X.shape
    M, r, d = 32, 32, 32
    P = []
    R = torch.randn(S, M, D, r, device=DEV)
    f = mlp([r, d, d, d, d], P, lambda x: F.leaky_relu(x, 0.2))
    head = Linear(d, M, P)
    get = draw(X, 256)

    def emb(x):
        v = x.unsqueeze(1) @ R
        s, m, b, _ = v.shape
        return f(v.reshape(s, m * b, r)).view(s, m, b, d)

    mean = torch.zeros(S, M, d, device=DEV)

    def dist(e, mu):
        return (
            (e * e).sum(-1, keepdim=True) - 2 * e @ mu.transpose(-1, -2).unsqueeze(1) + (mu * mu).sum(-1)[:, None, None]
        )  # [S,M,b,M]

    def loss():
        e = emb(get())
        mu = e.mean(2)
        dd = dist(e, mu)
        own = dd.diagonal(dim1=1, dim2=3).transpose(1, 2)
        near = dd.masked_fill(torch.eye(M, dtype=torch.bool, device=DEV)[:, None], 1e9).amin(-1)
        ce = F.cross_entropy(
            head(F.leaky_relu(e, 0.2).reshape(S, -1, d)).reshape(-1, M),
            torch.arange(M, device=DEV).repeat_interleave(e.shape[2]).repeat(S),
        )
        return S * ce + 0.1 * (own - near + 1.0).clamp(min=0).mean() * S

    train(P, loss, cap, 1e-3)
    with torch.no_grad():
        tot = torch.zeros(S, M, d, device=DEV)
        for i in range(0, n, 4096):
            tot += emb(X[i : i + 4096].unsqueeze(0).expand(S, -1, -1)).sum(2)
        mean = tot / n

    def each(x):
        dd = dist(emb(x), mean)
        lp = torch.log_softmax(-(dd + 1e-6), -1).diagonal(dim1=1, dim2=3)
        return -lp.sum(-1)

    return score(each, X, 2048)


def dagmm(X, y, cap=4000):
    n, D = X.shape
    P = []
    act = torch.tanh
    K = 4
    enc = mlp([D, 60, 30, 10, 1], P, act)
    dec = mlp([1, 10, 30, 60, D], P, act)
    e1, e2 = Linear(3, 10, P), Linear(10, K, P)
    get = draw(X, 1024)

    def feats(x):
        z = enc(x)
        r = dec(z)
        eu = (x - r).norm(dim=-1, keepdim=True) / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)
        return torch.cat([z, eu, 1 - F.cosine_similarity(x, r, dim=-1).unsqueeze(-1)], -1), ((x - r) ** 2).sum(-1)

    def gmm(z, g):
        phi = g.mean(1)
        mu = (g.unsqueeze(-1) * z.unsqueeze(2)).sum(1) / g.sum(1).unsqueeze(-1).clamp(min=1e-6)
        d = z.unsqueeze(2) - mu.unsqueeze(1)
        cov = (g[..., None, None] * d.unsqueeze(-1) * d.unsqueeze(-2)).sum(1) / g.sum(1)[..., None, None].clamp(
            min=1e-6
        )
        return phi, mu, cov + 1e-3 * torch.eye(3, device=DEV)

    def inverse(c):
        a, b, d_, e, f, i = c[..., 0, 0], c[..., 0, 1], c[..., 0, 2], c[..., 1, 1], c[..., 1, 2], c[..., 2, 2]
        A, B_, C = e * i - f * f, d_ * f - b * i, b * f - d_ * e
        det = (a * A + b * B_ + d_ * C).clamp(min=1e-12)
        rows = torch.stack(
            [
                torch.stack([A, B_, C], -1),
                torch.stack([B_, a * i - d_ * d_, b * d_ - a * f], -1),
                torch.stack([C, b * d_ - a * f, a * e - b * b], -1),
            ],
            -2,
        )
        return rows / det[..., None, None], det

    def energy(z, phi, mu, cov):
        inv, det = inverse(cov)
        d = z.unsqueeze(2) - mu.unsqueeze(1)
        q = torch.einsum("snki,skij,snkj->snk", d, inv, d)
        return -torch.logsumexp(
            phi.clamp(min=1e-9).log().unsqueeze(1) - 0.5 * q - 0.5 * ((2 * math.pi) ** 3 * det).log().unsqueeze(1), -1
        )

    def est(z, drop):
        h = act(e1(z))
        return torch.softmax(e2(F.dropout(h, 0.5, drop)), -1)

    def loss():
        z, rec = feats(get())
        p = gmm(z, est(z, True))
        return (
            rec.mean(-1) + 0.1 * energy(z, *p).mean(-1) + 0.005 * (1 / p[2].diagonal(dim1=-2, dim2=-1)).sum((-1, -2))
        ).sum()

    train(P, loss, epochs(n, 1024, 200, cap), 1e-4)
    with torch.no_grad():
        sub = X[torch.randperm(n, device=DEV)[:50_000]]
        z, _ = feats(sub.unsqueeze(0).expand(S, -1, -1))
        p = gmm(z, est(z, False))
    return score(lambda x: energy(feats(x)[0], *p), X, 16384)


def svdd(X, y, cap=2000):
    n, D = X.shape
    P = []
    f = mlp([D, 128, 64, 32], P, lambda x: F.leaky_relu(x, 0.1), bias=False)
    get = draw(X, 128)
    with torch.no_grad():
        c = f(X[:8192].unsqueeze(0).expand(S, -1, -1)).mean(1, keepdim=True)
        c = torch.where(c.abs() < 0.1, 0.1 * torch.sign(c + 1e-9), c)
    each = lambda x: ((f(x) - c) ** 2).sum(-1)
    train(P, lambda: each(get()).mean(-1).sum(), epochs(n, 128, 50, cap), 1e-4, 1e-6)
    return score(each, X, 16384)


def dte(X, y, cap=4000):
    n, D = X.shape
    P = []
    T, bins = 300, 7
    beta = torch.linspace(1e-4, 0.01, T, device=DEV)
    ab = torch.cumprod(1 - beta, 0)
    f = mlp([D, 256, 512, 256, bins], P, F.relu)
    get = draw(X, 64)

    def loss():
        x = get()
        t = torch.randint(T, x.shape[:2], device=DEV)
        a = ab[t].unsqueeze(-1)
        return (
            F.cross_entropy(
                f(a.sqrt() * x + (1 - a).sqrt() * torch.randn_like(x)).reshape(-1, bins), (t * bins // T).reshape(-1)
            )
            * S
        )

    train(P, loss, epochs(n, 64, 400, cap), 1e-4, 5e-4)
    w = torch.arange(bins, device=DEV).float()
    return score(lambda x: (torch.softmax(f(x), -1) * w).sum(-1), X, 16384)


UNSUPERVISED = dict(
    icl=(icl, zscore),
    neutral_t=(neutral, zscore),
    neutral_k=(lambda X, y: neutral(X, y, kdd=True), zscore),
    dagmm=(dagmm, lambda X: (X + 1) / 2),
    goad=(goad, zscore),
    svdd=(svdd, zscore),
    dte=(dte, zscore),
)


# ---- few labels: every slot is one split, all slots at once
def keys(n, s):
    M = (1 << 64) - 1
    import numpy as np

    with np.errstate(over="ignore"):
        z = (np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) + np.uint64(
            ((s + 1) * 0xD1B54A32D192ED03) & M
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def split(y, s, count):
    import numpy as np

    n = len(y)
    o = np.argsort(keys(n, s), kind="stable")
    a, b = 64 * n // 100, 80 * n // 100
    tr, va, te = o[:a], o[a:b], o[b:]
    pos = tr[y[tr] == 1][:count]
    want = int(len(pos) * (n - y.sum()) / y.sum() + 0.5)
    neg = tr[y[tr] == 0][:want]
    lab = np.concatenate([pos, neg])
    un = np.setdiff1d(tr, lab)
    return pos, neg, un, va, te


def few(X, y, method, count, splits):
    """Test AUC at the best validation AUC, one value a split."""
    import numpy as np

    yn = y.cpu().numpy()
    parts = [split(yn, s, count) for s in splits]
    n, D = X.shape
    P = []
    pad = lambda rows, m: torch.tensor(np.stack([np.resize(r, m) for r in rows]), device=DEV)
    pos = pad([p[0] for p in parts], max(len(p[0]) for p in parts))
    neg = pad([p[1] for p in parts], max(len(p[1]) for p in parts))
    un = pad([p[2] for p in parts], min(100_000, max(len(p[2]) for p in parts)))
    pick = lambda t, b: X[t.gather(1, torch.randint(t.shape[1], (S, b), device=DEV))]
    if method == "devnet":
        f = mlp([D, 20, 1], P, F.relu)

        def loss():
            ref = torch.randn(S, 5000, 1, device=DEV)
            mu, sd = ref.mean(1, keepdim=True), ref.std(1, keepdim=True)
            dn = (f(pick(un, 256)) - mu) / sd
            dp = (f(pick(pos, 256)) - mu) / sd
            return (dn.abs().mean((1, 2)) + (5 - dp).clamp(min=0).mean((1, 2))).sum() / 2

        each = lambda x: f(x)[..., 0]
        lr, l2 = 1e-3, 1e-2
    elif method == "deepsad":
        f = mlp([D, 128, 64, 32], P, lambda x: F.leaky_relu(x, 0.1), bias=False)
        with torch.no_grad():
            c = f(pick(un, 4096)).mean(1, keepdim=True)
            c = torch.where(c.abs() < 0.1, 0.1 * torch.sign(c + 1e-9), c)
        each = lambda x: ((f(x) - c) ** 2).sum(-1)

        def loss():
            return (
                each(pick(un, 128)).mean(1) + each(pick(neg, 64)).mean(1) + (1 / (each(pick(pos, 64)) + 1e-6)).mean(1)
            ).sum()

        lr, l2 = 1e-3, 1e-6
    else:
        f = mlp([D, 100, 100, 1], P, F.relu)

        def loss():
            a, b, u = f(pick(pos, 64)), f(pick(neg, 64)), pick(un, 64)
            bce = F.softplus(-a).mean((1, 2)) + F.softplus(b).mean((1, 2))
            outs = []
            for _ in range(20):
                m = torch.rand_like(u) < 0.3
                other = pick(un, 64)
                outs.append(torch.sigmoid(f(torch.where(m, other, u))))
            return (bce + torch.stack(outs).var(0).mean((1, 2))).sum()

        each = lambda x: f(x)[..., 0]
        lr, l2 = 1e-3, 0.0
    best = [(-1.0, 0.0, 0.0)] * S
    va = [torch.tensor(p[3], device=DEV) for p in parts]
    te = [torch.tensor(p[4], device=DEV) for p in parts]
    for _ in range(5):
        train(P, loss, 200, lr, l2)
        sc = score(each, X, 65536)
        for i in range(S):
            v = metrics(sc[i : i + 1, va[i]], y[va[i]])[0][0]
            if v > best[i][0]:
                best[i] = (v, *metrics(sc[i : i + 1, te[i]], y[te[i]])[0])
    return [(a, p) for _, a, p in best]


if __name__ == "__main__":
    out = open(sys.argv[1], "a")
    limit = float(sys.argv[2])
    data = sys.argv[3]
    t0 = time.time()
    torch.manual_seed(0)
    names = sorted(os.listdir(data), key=lambda f: (f.startswith("adbench"), os.path.getsize(f"{data}/{f}")))
    FEW = "vowels siesmic satimage-2 thyroid mammography at nyc cpu mt campaign backdoor celeba fraud census donors".split()
    jobs = [(m, f) for m in UNSUPERVISED for f in names]
    order = sys.argv[4].split(",")
    torch.backends.cuda.matmul.allow_tf32 = True
    if len(sys.argv) > 5:
        names = [n + ".npz" for n in sys.argv[5].split(",")]
    for m in order:
        for f in names:
            name = f[:-4].replace("adbench_", "adbench/")
            if m not in UNSUPERVISED and name not in FEW:
                continue
            if time.time() - t0 > limit:
                print("out of time before", m, name)
                sys.exit()
            X, y = load(f"{data}/{f}")
            t = time.time()
            try:
                if m in UNSUPERVISED:
                    fn, prep = UNSUPERVISED[m]
                    res = metrics(torch.nan_to_num(fn(prep(X), y)), y)
                    for s, (a, p) in enumerate(res):
                        out.write(f"{name},{m},{s},{a:.3f},{p:.3f}\n")
                    print(
                        f"{m} {name} " + " ".join("%.1f" % a for a, _ in res) + f" {time.time() - t:.1f} s", flush=True
                    )
                else:
                    for count in (5, 15, 30, 60, 120):
                        res = few(zscore(X), y, m, count, range(S))
                        for s, (a, p) in enumerate(res):
                            out.write(f"{name},{m}@{count},{s},{a:.3f},{p:.3f}\n")
                    print(
                        f"{m} {name} @120 " + " ".join("%.1f" % a for a, _ in res) + f" {time.time() - t:.1f} s",
                        flush=True,
                    )
            except Exception as e:
                print(m, name, "failed:", repr(e)[:200], flush=True)
            out.flush()
            torch.cuda.empty_cache() if DEV == "cuda" else None
