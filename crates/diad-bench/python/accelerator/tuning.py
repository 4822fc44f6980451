"""The paper's fine-tuning with a few labels, on an accelerator: every slot is one split with its own loss and learning rate.

    python tuning.py OUT.csv PACKED SECONDS NORM SETS        NORM: how sparsities become leaf weights; SETS: names with commas

A fit on the training rows of ten splits, without labels; with 120 labelled anomalies descents with either loss and four learning
rates, of which the validation rows choose one for the set; with this one descents with fewer labels. The validation rows also say
when to stop. One line a split and number of labels, written as it goes.
"""

import csv
import sys
import time

import numpy as np
import torch

import twin
from rivals import keys
from twin import DEV

COUNTS = (5, 15, 30, 60, 120)
RATES = (5e-3, 2e-3, 1e-3, 5e-4)
LOSSES = ("auc", "bce")
SPLITS = range(10)
# Labelled rows of either kind in a step: anomalies are drawn as often as normal rows.
HALF = 512
LOOKS = (0, 25, 50, 100, 150, 200, 300, 400)
# Most normal rows of a split that are scored to validate and to test.
MOST = (10_000, 20_000)


class Leaves(torch.autograd.Function):
    """The outputs of trees, with derivatives by their leaf weights too."""

    @staticmethod
    def forward(ctx, v, b, s, w, temp, k):
        S, T, _, N = v.shape
        sums = torch.empty(S, T, 2, w.shape[-1], device=v.device)
        h = torch.empty(S, T, N, device=v.device)
        k.fwd[(S * T, 2)](v, b, s, w, temp, sums, h, T, N // 2, BLOCK=256, num_warps=4)
        ctx.save_for_backward(v, b, s, w, temp)
        ctx.k = k
        return h

    @staticmethod
    def backward(ctx, dh):
        v, b, s, w, temp = ctx.saved_tensors
        S, T, _, N = v.shape
        C = b.shape[-1]
        dv = torch.empty_like(v)
        db = torch.empty(S, T, 2, C, device=v.device)
        ds = torch.empty_like(db)
        none = torch.zeros(S, T, 2, w.shape[-1], device=v.device)
        dh = dh.contiguous()
        ctx.k.bwd[(S * T, 2)](v, b, s, w, temp, none, dh, dv, db, ds, T, N // 2, BLOCK=256, num_warps=4)
        dw = torch.einsum("stln,stn->stl", leaves(v, b, s, temp), dh)
        return dv, db.sum(2), ds.sum(2), dw, None, None


def leaves(v, b, s, temp):
    """The share of every row in every leaf of every tree: [S, T, L, N]."""
    e = torch.ones_like(v[:, :, :1])
    for c in range(b.shape[-1]):
        slope = torch.exp(-s[:, :, c, None]) / temp.view(-1, 1, 1)
        z = (v[:, :, c % 2] - b[:, :, c, None]) * slope
        a = z.abs()
        t = (a + (8 - a * a).clamp(min=0).sqrt()) / 2
        t = torch.where(t <= a, torch.full_like(t, 2.0), t)
        r = (t - a).clamp(min=0) ** 2 / 4
        up = torch.where(z >= 0, 1 - r, r).unsqueeze(2)
        e = torch.cat([e * up, e * (1 - up)], 2)
    return e


class Pretraining(twin.Twin):
    """Every slot sees the training rows of its own split."""

    def __init__(s, X, slots, rows, **shape):
        super().__init__(X, slots, **shape)
        s.rows = rows
        s.B = min(s.B, rows.shape[1])
        s.B -= s.B % 2
        s.idx = torch.zeros(s.S, s.B, dtype=torch.long, device=DEV)

    def batches(s):
        per = s.rows.shape[1] // s.B
        while True:
            order = torch.rand(s.rows.shape, device=DEV).argsort(-1)[:, : per * s.B]
            for part in s.rows.gather(1, order).split(s.B, 1):
                yield part


class Tuning(twin.Twin):
    """Fits, each as often as it is tuned with other settings."""

    def __init__(s, fitted, times):
        s.__dict__.update(fitted.__dict__)
        s.S = fitted.S * times
        s.slots = [slot for slot in fitted.slots for _ in range(times)]
        again = lambda x: x.detach().repeat_interleave(times, 0)
        s.P = {n: again(p).requires_grad_() for n, p in fitted.P.items() if n[0] != "G"}
        s.P |= {f"W{l}": again(w).requires_grad_() for l, w in enumerate(fitted.W)}
        s.fixed = [again(fitted.selectors(l, True)) for l in range(s.L)]
        s.soft = torch.tensor([slot["min_temp"] for slot in s.slots], device=DEV)
        s.moments = {n: (torch.zeros_like(p), torch.zeros_like(p)) for n, p in s.P.items()}
        s.done = 0

    def selectors(s, l, hard):
        return s.fixed[l]

    def __call__(s, x):
        h = prev = None
        total = 0.0
        for l in range(s.L):
            v, f = s.values(l, x, h, prev, True)
            o = Leaves.apply(v.contiguous(), s.P[f"b{l}"], s.P[f"s{l}"], s.P[f"W{l}"], s.soft, s.k)
            total = total + o.mean(1) / s.L
            h = o if h is None else torch.cat([h, o], 1)
            prev = f if prev is None else torch.cat([prev, f], 1)
        return total

    @torch.no_grad()
    def scores(s, rows, chunk=4096):
        """Of rows [S, M] of every slot."""
        out = []
        for some in rows.split(chunk, 1):
            odd = some.shape[1] % 2
            x = s.X[torch.cat([some, some[:, :1]], 1) if odd else some]
            out.append(s(x)[:, : some.shape[1]])
        return torch.cat(out, 1)

    def step(s, x, loss, rate):
        loss = loss(s(x)).sum()
        names = list(s.P)
        grads = torch.autograd.grad(loss, [s.P[n] for n in names])
        s.done += 1
        with torch.no_grad():
            for n, g in zip(names, grads):
                first, second = s.moments[n]
                first.mul_(0.9).add_(g, alpha=0.1)
                second.mul_(0.999).addcmul_(g, g, value=0.001)
                move = (first / (1 - 0.9**s.done)) / ((second / (1 - 0.999**s.done)).sqrt() + 1e-8)
                s.P[n].sub_(rate.view(-1, *[1] * (g.dim() - 1)) * move)


def split(y, s):
    """Rows of one split in its order: training, validation, test."""
    n = len(y)
    order = np.argsort(keys(n, s), kind="stable")
    return order[: 64 * n // 100], order[64 * n // 100 : 80 * n // 100], order[80 * n // 100 :]


def labelled(y, train, count):
    found = train[y[train] == 1][:count]
    wanted = int(len(found) * (len(y) - y.sum()) / y.sum() + 0.5)
    return found, train[y[train] == 0][:wanted]


def thinned(y, rows, most):
    """All anomalies among some rows, and at most so many others."""
    return np.concatenate([rows[y[rows] == 1], rows[y[rows] == 0][:most]])


def padded(rows, times):
    longest = max(map(len, rows))
    same = np.stack([np.resize(r, longest) for r in rows])
    return torch.tensor(same, device=DEV).repeat_interleave(times, 0)


def tune(fitted, y, splits, jobs):
    """For each split and each of its jobs (labels, loss, rate) the best validation AUC and the test AUC there."""
    times = len(jobs[0])
    model = Tuning(fitted, times)
    flat = [(split, *job) for split, own in zip(splits, jobs) for job in own]
    sets = [labelled(y, train, count) for (train, _, _), count, _, _ in flat]
    counts = torch.tensor([[len(found), len(others)] for found, others in sets], device=DEV)
    found, others = padded([a for a, _ in sets], 1), padded([b for _, b in sets], 1)
    rate = torch.tensor([job[3] for job in flat], device=DEV)
    is_auc = torch.tensor([job[2] == "auc" for job in flat], device=DEV)
    with torch.no_grad():
        start = model.scores(padded([train[:4096] for train, _, _ in splits], times))
        low, middle, high = (start.quantile(q, 1, keepdim=True) for q in (0.25, 0.5, 0.75))
        unit = (high - low).clamp(min=1e-6)

    def loss(score):
        f = (score - middle) / unit
        up, down = f[:, :HALF], f[:, HALF:]
        pairs = (down.unsqueeze(1) - up.unsqueeze(2)).clamp(min=0).mean((1, 2))
        entropy = torch.nn.functional.softplus(-up).mean(1) + torch.nn.functional.softplus(down).mean(1)
        return torch.where(is_auc, pairs, entropy)

    def draw(rows, count):
        return rows.gather(1, (torch.rand(model.S, HALF, device=DEV) * count.unsqueeze(1)).long())

    looked = [padded([thinned(y, parts[i + 1], MOST[i]) for parts in splits], 1) for i in range(2)]
    sizes = [[len(thinned(y, parts[i + 1], MOST[i])) for parts in splits] for i in range(2)]
    labels = torch.tensor(y, device=DEV)

    def look():
        figures = []
        for rows, own in zip(looked, sizes):
            told = model.scores(rows.repeat_interleave(times, 0))
            aucs = []
            for slot in range(model.S):
                known = own[slot // times]
                aucs.append(auc(told[slot, :known], labels[rows[slot // times, :known]]))
            figures.append(torch.stack(aucs))
        return torch.stack(figures, 1)

    best = look()
    first = best.clone()
    for number in range(1, LOOKS[-1] + 1):
        chosen = torch.cat([draw(found, counts[:, 0]), draw(others, counts[:, 1])], 1)
        model.step(model.X[chosen], loss, rate)
        if number in LOOKS:
            now = look()
            best = torch.where((now[:, :1] > best[:, :1]), now, best)
    shape = (len(splits), times, 2)
    return first.view(shape).tolist(), best.view(shape).tolist()


def auc(score, label):
    """ROC-AUC, ties halved, without leaving the device."""
    order = score.double().sort().values
    found = score[label > 0].double().contiguous()
    below = torch.searchsorted(order, found, right=False).double()
    upto = torch.searchsorted(order, found, right=True).double()
    number = float(len(found))
    ranks = ((below + upto + 1) / 2).sum()
    return 100 * (ranks - number * (number + 1) / 2) / (number * (len(score) - number))


def measure(name, data, norm, lines):
    X, labels = twin.load(f"{data}/{name}.npz")
    y = labels.cpu().numpy()
    splits = [split(y, s) for s in SPLITS]
    rows = torch.tensor(np.stack([train for train, _, _ in splits]), device=DEV)
    fitted = Pretraining(X, [dict(norm=norm, seed=s) for s in SPLITS], rows)
    fitted.fit()
    jobs = [(120, loss, rate) for loss in LOSSES for rate in RATES]
    first, best = tune(fitted, y, splits, [jobs] * len(splits))
    chosen = int(np.mean([[valid for valid, _ in own] for own in best], 0).argmax())
    _, loss, rate = jobs[chosen]
    for s in SPLITS:
        lines.writerow([name, norm, s, 0, "", "", *(f"{x:.3f}" for x in first[s][0])])
        for job, figures in zip(jobs, best[s]):
            lines.writerow([name, norm, s, *job, *(f"{x:.3f}" for x in figures)])
    fewer = [(count, loss, rate) for count in COUNTS[:-1]]
    _, best = tune(fitted, y, splits, [fewer] * len(splits))
    for s in SPLITS:
        for job, figures in zip(fewer, best[s]):
            lines.writerow([name, norm, s, *job, *(f"{x:.3f}" for x in figures)])
    return loss, rate


def check():
    """Leaves against the kernel, and the derivative by leaf weights against differences."""
    torch.manual_seed(1)
    k = twin.kernels(4)
    v = torch.randn(2, 3, 2, 64, device=DEV)
    b, s = torch.randn(2, 3, 4, device=DEV), torch.rand(2, 3, 4, device=DEV) - 0.5
    temp = torch.tensor([0.5, 1.2], device=DEV)
    w = torch.randn(2, 3, 16, device=DEV, requires_grad=True)
    h = Leaves.apply(v, b, s, w, temp, k)
    plain = torch.einsum("stln,stl->stn", leaves(v, b, s, temp), w)
    weight = torch.randn_like(h)
    (got,) = torch.autograd.grad((h * weight).sum(), w, retain_graph=True)
    (wanted,) = torch.autograd.grad((plain * weight).sum(), w)
    assert (h - plain).abs().max() < 1e-4 and (got - wanted).abs().max() < 1e-4


def main():
    target, data, seconds, norm, sets = sys.argv[1:6]
    torch.manual_seed(0)
    begun, longest = time.time(), 0.0
    check()
    with open(target, "a", newline="") as file:
        lines = csv.writer(file)
        for name in sets.split(","):
            if time.time() - begun + longest > float(seconds):
                sys.exit(f"out of time before {name}")
            began = time.time()
            chosen = measure(name, data, norm, lines)
            file.flush()
            longest = max(longest, time.time() - began)
            print(f"{name}: {time.time() - began:.0f} s, {chosen}", flush=True)


if __name__ == "__main__":
    main()
