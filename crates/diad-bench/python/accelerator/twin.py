"""The PyTorch twin on an accelerator: DIAD's unsupervised training, many fits at once on one accelerator: every slot is one fit of one set with its own seed and options.
The mathematics is that of docs/method.md; trees and entmax are fused kernels (kernels.py writes them)."""

import functools, importlib, math, os, sys, tempfile
import torch

import unpack

DEV = os.environ.get("TWIN_DEVICE", "cuda")
FIELDS = dict(
    norm="layer",
    sched="lin",
    detach=0,
    lr=1e-3,
    gamma=0.1,
    delta=50.0,
    drop=0.75,
    rho=0.4,
    min_temp=0.1,
    hard2=0,
    w0="normal",
    logs=0,
    # The temperature of splits at the last step, to which it goes on falling after annealing; None: min_temp.
    late=None,
    seed=0,
)


# The sources of the kernels, which must stay as long as they are used.
FOLDER = tempfile.TemporaryDirectory(prefix="twin_kernels_")
sys.path.insert(0, FOLDER.name)


@functools.cache
def kernels(depth):
    import kernels as source_of

    with open(os.path.join(FOLDER.name, f"trees{depth}.py"), "w") as file:
        file.write(source_of.source(depth))
    importlib.invalidate_caches()
    return importlib.import_module(f"trees{depth}")


class Entmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, k):
        z = z.contiguous()
        n = z.shape[-1]
        p = torch.empty_like(z)
        block = max(16, 1 << (n - 1).bit_length())
        k.entmax[(z.numel() // n,)](z, p, n, BLOCK=block, num_warps=4 if block <= 2048 else 8)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        r = p.sqrt()
        d = g * r
        return d - r * (d.sum(-1, keepdim=True) / r.sum(-1, keepdim=True)), None


def block(thresholds):
    """Rows that a program of a kernel takes at a time: deep trees fill the registers with fewer."""
    return 256 if thresholds.shape[-1] < 5 else 128


class Trees(torch.autograd.Function):
    """v [S,T,2,N], thresholds and log-slopes [S,T,C], W [S,T,L], temp [S] -> leaf sums [S,T,2,L] of both halves of the rows, outputs [S,T,N]."""

    @staticmethod
    def forward(ctx, v, b, s, w, temp, k):
        S, T, _, N = v.shape
        L = w.shape[-1]
        B = N // 2
        sums = torch.empty(S, T, 2, L, device=v.device)
        h = torch.empty(S, T, N, device=v.device)
        k.fwd[(S * T, 2)](v, b, s, w, temp, sums, h, T, B, BLOCK=block(b), num_warps=4)
        ctx.save_for_backward(v, b, s, w, temp)
        ctx.k = k
        return sums, h

    @staticmethod
    def backward(ctx, g, dh):
        v, b, s, w, temp = ctx.saved_tensors
        S, T, _, N = v.shape
        C = b.shape[-1]
        B = N // 2
        dv = torch.empty_like(v)
        db = torch.empty(S, T, 2, C, device=v.device)
        ds = torch.empty_like(db)
        ctx.k.bwd[(S * T, 2)](
            v, b, s, w, temp, g.contiguous(), dh.contiguous(), dv, db, ds, T, B, BLOCK=block(b), num_warps=4
        )
        return dv, db.sum(2), ds.sum(2), None, None, None


class Twin:
    def __init__(
        s, X, slots, layers=3, trees=300, depth=4, outputs=2, att=12, batch=2048, steps=2000, warmup=1000, anneal=1000
    ):
        s.X = X
        s.slots = [dict(FIELDS, **c) for c in slots]
        s.S = S = len(slots)
        s.N, s.D = X.shape
        s.L, s.T, s.C, s.K, s.A = layers, trees, depth, outputs, att
        s.B = min(batch, s.N)
        s.steps, s.warmup, s.anneal = steps, warmup, anneal
        s.k = kernels(depth)
        D, T = s.D, trees
        col = lambda f: torch.tensor([float(c[f]) for c in s.slots], device=DEV)
        s.gamma, s.delta, s.drop, s.lr0, s.detach, s.logs = map(col, ("gamma", "delta", "drop", "lr", "detach", "logs"))
        s.norm = {
            n: torch.tensor([c["norm"] == n for c in s.slots], device=DEV).view(-1, 1, 1)
            for n in ("layer", "tree", "literal", "literal_layer", "global", "none")
        }
        s.sparse0 = torch.tensor([c["w0"] == "sparse" for c in s.slots], device=DEV).view(-1, 1, 1)
        P = {}
        s.mask = []
        s.W = []
        for l in range(layers):
            G, M, W, K_, Q = [], [], [], [], []
            for i, c in enumerate(s.slots):
                g = torch.Generator().manual_seed(1000 * c["seed"] + l)
                n = D if c["rho"] >= 1 else min(D, max(2, math.ceil(D * c["rho"])))
                M.append((torch.rand(T, D, generator=g).argsort(-1) < n).float())
                G.append(torch.rand(T, 2, D, generator=g))
                W.append(torch.randn(T, 2**depth, generator=g) * (c["w0"] == "normal"))
                if l:
                    K_.append(torch.rand(outputs, l * T, att, generator=g))
                    Q.append(torch.rand(T, att, generator=g))
            st = lambda x: torch.stack(x).to(DEV)
            s.mask.append(st(M).unsqueeze(2))
            s.W.append(st(W))
            P[f"G{l}"] = st(G)
            P[f"b{l}"] = torch.zeros(S, T, depth, device=DEV)
            P[f"s{l}"] = torch.zeros(S, T, depth, device=DEV)
            if l:
                P[f"k{l}"] = st(K_)
                P[f"q{l}"] = st(Q)
        for p in P.values():
            p.requires_grad_(True)
        s.P = P
        s.m1 = {n: torch.zeros_like(p) for n, p in P.items()}
        s.m2 = {n: torch.zeros_like(p) for n, p in P.items()}
        s.temp = torch.ones(S, device=DEV)
        s.lr = torch.zeros(S, device=DEV)
        s.bc = torch.ones(2, device=DEV)
        s.soft2 = torch.ones(S, device=DEV)
        s.idx = torch.zeros(S, s.B, dtype=torch.long, device=DEV)

    def logits(s, l):
        return s.P[f"G{l}"] * s.mask[l] - 20 * (1 - s.mask[l])

    def selectors(s, l):
        return Entmax.apply(s.logits(l) / s.temp.view(-1, 1, 1, 1), s.k)  # [S,T,2,D]

    def chosen(s, l):
        """The features of every tree once annealing has ended: [S,T,2]."""
        return s.logits(l).detach().argmax(-1)

    def match(s, l, f, prev, hard):
        """How far the features of earlier trees are those of these: [S,T,P]."""
        S, T = s.S, s.T
        if hard:
            o = (f[:, :, :, None, None] == prev[:, None, None]).float()
        else:
            o = torch.matmul(f.reshape(S, 2 * T, s.D), prev.reshape(S, -1, s.D).transpose(1, 2)).view(S, T, 2, -1, 2)
        return (o[:, :, 0, :, 0] * o[:, :, 1, :, 1] + o[:, :, 0, :, 1] * o[:, :, 1, :, 0]).clamp(max=1.0)

    def values(s, l, x, h, prev, hard):
        """What the trees of a layer split, of columns x [S,D,N]: [S,T,2,N]; and their features."""
        S, T = s.S, s.T
        if hard:
            f = s.chosen(l)
            v = x.gather(1, f.view(S, 2 * T, 1).expand(-1, -1, x.shape[2])).view(S, T, 2, -1)
        else:
            f = s.selectors(l)
            v = torch.matmul(f.view(S, 2 * T, s.D), x).view(S, T, 2, -1)
        if l:
            m = s.match(l, f, prev, hard)
            kq = torch.matmul(s.P[f"q{l}"], s.P[f"k{l}"].view(S, -1, s.A).transpose(1, 2)).view(S, T, s.K, -1)
            a = Entmax.apply(((m + 1e-6).log().unsqueeze(2) + kq).view(S, T, -1), s.k).view(S, T, s.K, -1).sum(2)
            v = v + torch.matmul(m * a, h).unsqueeze(2)
        return v, f

    def run(s, x, hard, temp2, first=False):
        x = x.transpose(1, 2).contiguous()
        h = prev = None
        sums = []
        outs = []
        for l in range(s.L):
            v, f = s.values(l, x, h, prev, hard)
            if first:
                s.place(l, v)
            su, o = Trees.apply(v.contiguous(), s.P[f"b{l}"], s.P[f"s{l}"], s.W[l], temp2, s.k)
            if first:
                with torch.no_grad():
                    s.W[l].copy_(torch.where(s.sparse0, s.scaled([s.sparsity(su)[0]])[0], s.W[l]))
                su, o = Trees.apply(v.contiguous(), s.P[f"b{l}"], s.P[f"s{l}"], s.W[l], temp2, s.k)
            sums.append(su)
            outs.append(o)
            d = s.detach.view(-1, 1, 1, 1)
            fp = f if hard else d * f.detach() + (1 - d) * f
            h = o if h is None else torch.cat([h, o], 1)
            prev = fp if prev is None else torch.cat([prev, fp], 1)
        return sums, outs

    def place(s, l, v):
        with torch.no_grad():
            vv = v[..., : s.B].repeat(1, 1, (s.C + 1) // 2, 1)[:, :, : s.C]
            q = torch.stack(
                [
                    torch.rand(s.T, s.C, generator=torch.Generator().manual_seed(77 + 1000 * c["seed"] + l))
                    for c in s.slots
                ]
            ).to(DEV)
            srt = v[..., : s.B].sort(-1).values.repeat(1, 1, (s.C + 1) // 2, 1)[:, :, : s.C]
            b = srt.gather(-1, (q * (s.B - 1)).round().long().unsqueeze(-1))[..., 0]
            s.P[f"b{l}"].copy_(b)
            s.P[f"s{l}"].copy_(((vv - b.unsqueeze(-1)).abs().amax(-1) + 1e-6).log())

    def sparsity(s, su):
        n = su + s.delta.view(-1, 1, 1, 1)
        r = n / n.sum(-1, keepdim=True)
        d, v = r[:, :, 0], r[:, :, 1]
        return v / d, (v * v / d).sum(-1)

    def scaled(s, sp):
        lo_g = torch.stack([x.amin((1, 2)) for x in sp]).amin(0).view(-1, 1, 1)
        hi_g = torch.stack([x.amax((1, 2)) for x in sp]).amax(0).view(-1, 1, 1)
        out = []
        for x in sp:
            lo, hi = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
            ll, hl = x.amin((1, 2), keepdim=True), x.amax((1, 2), keepdim=True)
            w = torch.where(s.logs.view(-1, 1, 1) > 0, x.log(), x)
            w = torch.where(s.norm["tree"], 2 * (x - lo) / (hi - lo + 1e-6) - 1, w)
            w = torch.where(s.norm["layer"], 2 * (x - ll) / (hl - ll + 1e-6) - 1, w)
            w = torch.where(s.norm["literal"], 2 * x / (hi - lo + 1e-6) - 1, w)
            w = torch.where(s.norm["literal_layer"], 2 * x / (hl - ll + 1e-6) - 1, w)
            w = torch.where(s.norm["global"], 2 * (x - lo_g) / (hi_g - lo_g + 1e-6) - 1, w)
            out.append(w)
        return out

    def batch(s):
        return torch.cat([s.X[s.idx], torch.rand(s.S, s.B, s.D, device=DEV) * 2 - 1], 1)

    def step(s, hard, w_gain):
        sums, _ = s.run(s.batch(), hard, s.temp2)
        loss = 0.0
        sp = []
        for su in sums:
            x, M = s.sparsity(su)
            sp.append(x.detach())
            keep = (torch.rand_like(M) > s.drop.view(-1, 1)) / (1 - s.drop.view(-1, 1))
            loss = loss - (M * keep).sum()
        names = [n for n in s.P if not (hard and n[0] == "G")]
        grads = torch.autograd.grad(loss, [s.P[n] for n in names])
        with torch.no_grad():
            for n, g in zip(names, grads):
                lr = s.lr.view(-1, *[1] * (g.dim() - 1))
                s.m1[n].mul_(0.9).add_(g, alpha=0.1)
                s.m2[n].mul_(0.999).addcmul_(g, g, value=0.001)
                s.P[n].sub_(lr * (s.m1[n] / s.bc[0]) / ((s.m2[n] / s.bc[1]).sqrt() + 1e-8))
            for l, w in enumerate(s.scaled(sp)):
                s.W[l].copy_(torch.lerp(s.W[l], w, s.gain.view(-1, 1, 1)))

    @staticmethod
    def final(slot, rest=1.0):
        """The temperature of the splits of a slot when annealing has ended, so far towards the last step."""
        if slot["hard2"]:
            return 1e-6
        low = slot["min_temp"]
        return low if slot["late"] is None else low * (slot["late"] / low) ** rest

    def set_step(s, i):
        fr = min(1.0, i / s.anneal) if s.anneal else 1.0
        t = [
            c["min_temp"]
            if fr >= 1
            else (1 + fr * (c["min_temp"] - 1) if c["sched"] == "lin" else 10 ** (fr * math.log10(c["min_temp"])))
            for c in s.slots
        ]
        rest = (i - s.anneal) / max(1, s.steps - 1 - s.anneal)
        t2 = [s.final(c, rest) if fr >= 1 else x for c, x in zip(s.slots, t)]
        warm = min(1.0, (i + 1) / max(1, s.warmup))
        host = torch.tensor(
            [t, t2, [c["lr"] * warm for c in s.slots], [1.0 if i == 0 else c["gamma"] for c in s.slots]],
            pin_memory=DEV == "cuda",
        )
        s.hyper.copy_(host, non_blocking=True)
        s.bc.copy_(
            torch.tensor([1 - 0.9 ** (i + 1), 1 - 0.999 ** (i + 1)], pin_memory=DEV == "cuda"), non_blocking=True
        )
        return fr >= 1

    def fit(s, limit=None):
        s.hyper = torch.ones(4, s.S, device=DEV)
        s.temp, s.temp2, s.lr, s.gain = s.hyper
        order = s.batches()
        graphs = {}
        for i in range(s.steps):
            s.idx.copy_(next(order))
            hard = s.set_step(i)
            if i == 0:
                with torch.no_grad():
                    s.run(s.batch(), hard, s.temp2, first=True)
            if DEV == "cpu":
                s.step(hard, None)
                continue
            if hard in graphs:
                graphs[hard].replay()
                continue
            if i in (0, 1) or (hard and i - s.anneal < 2 and i > 1):  # warm-up, eager, on a side stream
                st = torch.cuda.Stream()
                st.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(st):
                    s.step(hard, None)
                torch.cuda.current_stream().wait_stream(st)
                continue
            graphs.clear()
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                s.step(hard, None)
            graphs[hard] = g
            g.replay()
        if DEV == "cuda":
            torch.cuda.synchronize()

    def batches(s):
        per = s.N // s.B
        todo = s.steps
        while todo > 0:
            reps = max(1, min(64, todo // per)) if s.N * s.S < 4_000_000 else 1
            p = torch.rand(s.S, reps, s.N, device=DEV).argsort(-1)[..., : per * s.B].reshape(s.S, reps * per, s.B)
            for j in range(reps * per):
                yield p[:, j]
            todo -= reps * per
        while True:
            yield p[:, 0]

    @torch.no_grad()
    def layer_scores(s, hard2=False, chunk=16384):
        """[layers, S, N]: the mean output of each layer's trees."""
        out = torch.empty(s.L, s.S, s.N, device=DEV)
        t2 = torch.tensor([1e-6 if hard2 else s.final(c) for c in s.slots], device=DEV)
        for i in range(0, s.N, chunk):
            x = s.X[i : i + chunk]
            n = x.shape[0]
            if n % 2:
                x = torch.cat([x, x[-1:]])
            _, o = s.run(x.unsqueeze(0).expand(s.S, -1, -1), True, t2)
            for l in range(s.L):
                out[l, :, i : i + n] = o[l].mean(1)[:, :n]
        return out


def metrics(score, y):
    """ROC-AUC with ties halved and average precision, of scores [S,N] in double precision."""
    res = []
    pos = int(y.sum())
    neg = len(y) - pos
    for sc in score.double():
        srt, order = sc.sort()
        yy = y[order].double()
        sp = sc[y > 0].contiguous()
        lo = torch.searchsorted(srt, sp, right=False).double()
        hi = torch.searchsorted(srt, sp, right=True).double()
        ranks = ((lo + hi + 1) / 2).sum()
        auc = ((ranks - pos * (pos + 1) / 2) / (pos * neg)).item()
        yd = yy.flip(0)
        tp = yd.cumsum(0)
        prec = tp / torch.arange(1, len(yd) + 1, device=yd.device)
        sd = srt.flip(0)
        last = torch.ones_like(sd, dtype=torch.bool)
        last[:-1] = sd[1:] != sd[:-1]
        tpl = tp[last]
        ap = ((tpl - torch.cat([tpl.new_zeros(1), tpl[:-1]])) * prec[last]).sum().item() / pos
        res.append((100 * auc, 100 * ap))
    return res


def load(path):
    return tuple(torch.tensor(part, device=DEV) for part in unpack.load(path))


def check(depth=4):
    """Kernels against plain double precision."""
    torch.manual_seed(0)
    k = kernels(depth)
    S, T, N, C, L = 2, 3, 600, depth, 2**depth
    v = torch.randn(S, T, 2, N, device=DEV, requires_grad=True)
    b = torch.randn(S, T, C, device=DEV, requires_grad=True)
    sl = (torch.rand(S, T, C, device=DEV) - 0.5).requires_grad_(True)
    w = torch.randn(S, T, L, device=DEV)
    temp = torch.tensor([0.5, 1.2], device=DEV)
    su, h = Trees.apply(v, b, sl, w, temp, k)
    cs, ch = torch.randn_like(su), torch.randn_like(h)
    got = torch.autograd.grad((su * cs).sum() + (h * ch).sum(), [v, b, sl])
    V, Bq, Sq = (x.detach().double().requires_grad_(True) for x in (v, b, sl))
    vv = V.repeat(1, 1, (C + 1) // 2, 1)[:, :, :C]
    z = (vv - Bq.unsqueeze(-1)) * torch.exp(-Sq).unsqueeze(-1) / temp.double().view(-1, 1, 1, 1)
    a = z.abs()
    t = (a + (8 - a * a).clamp(min=1e-30).sqrt()) / 2
    t = torch.where(t <= a, torch.full_like(t, 2.0), t)
    r = 0.25 * (t - a).clamp(min=0) ** 2
    H = torch.where(z >= 0, 1 - r, r)
    e = torch.ones(S, T, 1, N, device=DEV, dtype=torch.double)
    for c in range(C):
        e = torch.cat([e * H[:, :, c : c + 1], e * (1 - H[:, :, c : c + 1])], 2)
    hh = (e * w.double().unsqueeze(-1)).sum(2)
    ss = torch.stack([e[..., : N // 2].sum(-1), e[..., N // 2 :].sum(-1)], 2)
    want = torch.autograd.grad((ss * cs.double()).sum() + (hh * ch.double()).sum(), [V, Bq, Sq])
    err = [((x.double() - y).norm() / y.norm()).item() for x, y in zip((su, h, *got), (ss, hh, *want))]
    zz = torch.randn(50, 37, device=DEV) * 3
    p = Entmax.apply(zz, k)
    zd = (zz.double() - zz.double().max(-1, keepdim=True).values) / 2
    s_ = zd.sort(-1, descending=True).values
    kk = torch.arange(1, 38, device=DEV).double()
    m, m2 = s_.cumsum(-1) / kk, (s_ * s_).cumsum(-1) / kk
    tau = m - ((1 - kk * (m2 - m * m)) / kk).clamp(min=0).sqrt()
    size = (tau <= s_).sum(-1, keepdim=True)
    q = (zd - tau.gather(-1, size - 1)).clamp(min=0) ** 2
    err.append((p.double() - q).abs().max().item())
    print("check", ["%.1e" % x for x in err], flush=True)
    assert max(err) < 1e-4, err
