"""The paper's fine-tuning with a few labels, on an accelerator: every slot is one split with its own labels, loss and learning rate.

From fits on the training rows of ten splits, without labels: with 120 labelled anomalies descents with either loss and four learning
rates, of which the validation rows choose one for the set; with this one descents with fewer labels. The validation rows also say
when to stop. The other loss at its own best rate and leaf weights alone are tuned as well. `search.py` runs it.
"""

import numpy as np
import torch

import twin
from rivals import keys
from twin import DEV

COUNTS = (5, 15, 30, 60, 120)
RATES = (5e-3, 2e-3, 1e-3, 5e-4)
LOSSES = ("auc", "bce")
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
        k.fwd[(S * T, 2)](v, b, s, w, temp, sums, h, T, N // 2, BLOCK=twin.block(b), num_warps=4)
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
        dw = torch.empty_like(none)
        block = twin.block(b)
        ctx.k.bwd[(S * T, 2)](v, b, s, w, temp, none, dh, dv, db, ds, T, N // 2, BLOCK=block, num_warps=4)
        ctx.k.by_leaf[(S * T, 2)](v, b, s, w, temp, dh, dw, T, N // 2, BLOCK=block, num_warps=4)
        return dv, db.sum(2), ds.sum(2), dw.sum(2), None, None


def leaves(v, b, s, temp):
    """The share of every row in every leaf of every tree, [S, T, L, N]: what the kernels are checked against."""
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

    def place_only(s):
        """Thresholds and slopes where the first batch says, everything else as drawn: a start without pre-training."""
        s.idx.copy_(next(s.batches()))
        with torch.no_grad():
            s.run(s.batch(), True, torch.tensor([s.final(slot) for slot in s.slots], device=DEV), first=True)

    @torch.no_grad()
    def scores(s, rows, chunk=4096):
        """Of rows [S, M], each slot's own."""
        temp = torch.tensor([s.final(slot) for slot in s.slots], device=DEV)
        return chunked(s.X, rows, chunk, lambda x: sum(out.mean(1) for out in s.run(x, True, temp)[1]) / s.L)


def chunked(X, rows, chunk, f):
    """What a function says of rows [S, M], a few at a time; the kernels want an even number."""
    out = []
    for some in rows.split(chunk, 1):
        odd = some.shape[1] % 2
        x = X[torch.cat([some, some[:, :1]], 1) if odd else some]
        out.append(f(x)[:, : some.shape[1]])
    return torch.cat(out, 1)


class Tuning(twin.Twin):
    """Fits, each as often as it is tuned with other settings."""

    def __init__(s, fitted, times):
        s.__dict__.update(fitted.__dict__)
        s.S = fitted.S * times
        s.slots = [slot for slot in fitted.slots for _ in range(times)]
        again = lambda x: x.detach().repeat_interleave(times, 0)
        s.P = {n: again(p).requires_grad_() for n, p in fitted.P.items() if n[0] != "G"}
        s.P |= {f"W{l}": again(w).requires_grad_() for l, w in enumerate(fitted.W)}
        s.fixed = [again(fitted.chosen(l)) for l in range(s.L)]
        s.matches = {}
        s.soft = torch.tensor([s.final(slot) for slot in s.slots], device=DEV)
        s.moments = {n: (torch.zeros_like(p), torch.zeros_like(p)) for n, p in s.P.items()}
        s.done = 0

    def chosen(s, l):
        return s.fixed[l]

    def match(s, l, f, prev, hard):
        if l not in s.matches:
            s.matches[l] = super().match(l, f, prev, hard)
        return s.matches[l]

    def __call__(s, x):
        x = x.transpose(1, 2).contiguous()
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
        return chunked(s.X, rows, chunk, s)

    def step(s, x, loss, rate, leaves_only):
        """One step of Adam; slots of `leaves_only` keep everything but their leaf weights."""
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
                own = rate if n[0] == "W" else rate * ~leaves_only
                s.P[n].sub_(own.view(-1, *[1] * (g.dim() - 1)) * move)


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
    """For each split and each of its jobs (labels, loss, rate, what is tuned) the best validation AUC and the test AUC there."""
    # Only attention is multiplied here; the columns of a tree are picked, not summed up.
    torch.backends.cuda.matmul.allow_tf32 = True
    times = len(jobs[0])
    model = Tuning(fitted, times)
    flat = [(split, *job) for split, own in zip(splits, jobs) for job in own]
    sets = [labelled(y, train, count) for (train, _, _), count, *_ in flat]
    counts = torch.tensor([[len(found), len(others)] for found, others in sets], device=DEV)
    found, others = padded([a for a, _ in sets], 1), padded([b for _, b in sets], 1)
    rate = torch.tensor([job[3] for job in flat], device=DEV)
    is_auc = torch.tensor([job[2] == "auc" for job in flat], device=DEV)
    leaves_only = torch.tensor([job[4] == "leaves" for job in flat], device=DEV)
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
        model.step(model.X[chosen], loss, rate, leaves_only)
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


def best_of(jobs, figures):
    """The job with the highest validation figure on average over the splits."""
    return jobs[int(np.mean([[valid for valid, _ in own] for own in figures], 0).argmax())]


def measure(fitted, y, splits, write):
    """Fine-tunes fits of some splits: `write` gets split, labels, loss, rate, what is tuned, validation and test AUC."""

    def noted(jobs):
        first, best = tune(fitted, y, splits, [jobs] * len(splits))
        for s, own in enumerate(best):
            for job, figures in zip(jobs, own):
                write(s, *job, *figures)
        return first, best

    jobs = [(COUNTS[-1], loss, rate, "all") for loss in LOSSES for rate in RATES]
    first, best = noted(jobs)
    for s, own in enumerate(first):
        write(s, 0, "", "", "", *own[0])
    chosen = best_of(jobs, best)
    # With each loss alone at its own best rate; with the chosen one leaf weights alone too.
    half = len(RATES)
    both = [best_of(part, [own[at : at + half] for own in best]) for at, part in ((0, jobs[:half]), (half, jobs[half:]))]
    fewer = [(count, *job[1:]) for job in both for count in COUNTS[:-1]]
    noted(fewer + [(count, *chosen[1:3], "leaves") for count in COUNTS])
    return chosen[1:3]


def fit(X, y, slots, split_of, scratch=False, **shape):
    """Fits without labels to the training rows of splits, one a slot."""
    rows = torch.tensor(np.stack([split_of[slot["seed"]][0] for slot in slots]), device=DEV)
    torch.backends.cuda.matmul.allow_tf32 = False
    fitted = Pretraining(X, slots, rows, **shape)
    if scratch:
        fitted.place_only()
    else:
        fitted.fit()
    return fitted


def check(depth=4):
    """Leaves against the kernel, and the derivative by leaf weights against the sum it is."""
    torch.manual_seed(1)
    k = twin.kernels(depth)
    v = torch.randn(2, 3, 2, 600, device=DEV)
    b, s = torch.randn(2, 3, depth, device=DEV), torch.rand(2, 3, depth, device=DEV) - 0.5
    temp = torch.tensor([0.5, 1.2], device=DEV)
    w = torch.randn(2, 3, 2**depth, device=DEV, requires_grad=True)
    h = Leaves.apply(v, b, s, w, temp, k)
    plain = torch.einsum("stln,stl->stn", leaves(v, b, s, temp), w)
    weight = torch.randn_like(h)
    (got,) = torch.autograd.grad((h * weight).sum(), w, retain_graph=True)
    (wanted,) = torch.autograd.grad((plain * weight).sum(), w)
    wrong = (h - plain).abs().max().item(), (got - wanted).abs().max().item()
    print("check of leaves", ["%.1e" % x for x in wrong], flush=True)
    assert max(wrong) < 1e-3
