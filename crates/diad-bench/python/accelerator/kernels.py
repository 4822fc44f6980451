"""The source of the Triton kernels of one layer of trees of a depth (rows last), forward and backward, and of 1.5-entmax."""


def source(C):
    L = 2**C
    out = ["import triton, triton.language as tl", ""]

    def splits(ind):
        for c in range(C):
            v = "v0" if c % 2 == 0 else "v1"
            yield f"{ind}z = ({v} - b{c}) * i{c}"
            yield f"{ind}a = tl.abs(z)"
            yield f"{ind}t = (a + tl.sqrt(tl.maximum(8.0 - a * a, 0.0))) * 0.5"
            yield f"{ind}t = tl.where(t <= a, 2.0, t)"
            yield f"{ind}m = tl.maximum(t - a, 0.0)"
            yield f"{ind}r = 0.25 * m * m"
            yield f"{ind}H{c} = tl.where(z >= 0, 1.0 - r, r)"
            yield f"{ind}Z{c} = z"
            yield f"{ind}N{c} = 1.0 - H{c}"

    def head():
        yield "    pid = tl.program_id(0); half = tl.program_id(1)"
        yield "    slot = pid // T"
        yield "    temp = tl.load(temp_p + slot)"
        for c in range(C):
            yield f"    b{c} = tl.load(b_p + pid * {C} + {c})"
            yield f"    i{c} = tl.exp(-tl.load(s_p + pid * {C} + {c})) / temp"
        for l in range(L):
            yield f"    w{l} = tl.load(w_p + pid * {L} + {l})"

    def leaves(ind):
        cur = ["1"]
        for c in range(C):
            nxt = []
            for k, name in enumerate(cur):
                nxt.append((f"H{c}" if name == "1" else f"{name} * H{c}"))
            for k, name in enumerate(cur):
                nxt.append((f"N{c}" if name == "1" else f"{name} * N{c}"))
            names = [f"e{c}_{k}" for k in range(len(nxt))]
            for n, x in zip(names, nxt):
                yield f"{ind}{n} = {x}"
            cur = names

    def rows(*more):
        """The loop over the rows, and what is read of each."""
        yield "    for start in range(0, B, BLOCK):"
        yield "        r0 = start + tl.arange(0, BLOCK); ok = r0 < B; col = half * B + r0"
        yield "        base = pid.to(tl.int64) * 4 * B"
        yield "        v0 = tl.load(v_p + base + col, mask=ok, other=0.0)"
        yield "        v1 = tl.load(v_p + base + 2 * B + col, mask=ok, other=0.0)"
        yield from more

    def nothing(names, count):
        """Sums over the rows, before the first of them."""
        for k in range(count):
            for name in names:
                yield f"    {name}{k} = tl.zeros((BLOCK,), tl.float32)"

    def stored(names, count):
        """Writes sums over the rows, each added up over what a program has of it."""
        for k in range(count):
            for to, name in names.items():
                yield f"    tl.store({to} + (pid * 2 + half) * {count} + {k}, tl.sum({name}{k}))"

    read_dh = "        dh = tl.load(dh_p + pid.to(tl.int64) * 2 * B + col, mask=ok, other=0.0)"
    o = out.append
    # forward. v: [S*T, 2, N] as [S, T, 2, N]; sums: [S*T, 2, L]; h: [S*T, N]
    o("@triton.jit")
    o("def fwd(v_p, b_p, s_p, w_p, temp_p, sums_p, h_p, T, B, BLOCK: tl.constexpr):")
    out.extend([*head(), *nothing(["acc"], L), *rows(), *splits("        "), *leaves("        ")])
    for l in range(L):
        o(f"        acc{l} += tl.where(ok, e{C - 1}_{l}, 0.0)")
    o("        h = " + " + ".join(f"e{C - 1}_{l} * w{l}" for l in range(L)))
    o("        tl.store(h_p + pid.to(tl.int64) * 2 * B + col, h, mask=ok)")
    out.extend(stored({"sums_p": "acc"}, L))
    o("")
    # the sum over the rows of every leaf's share times dh: the derivative by the leaf weights
    o("@triton.jit")
    o("def by_leaf(v_p, b_p, s_p, w_p, temp_p, dh_p, dw_p, T, B, BLOCK: tl.constexpr):")
    out.extend([*head(), *nothing(["acc"], L), *rows(read_dh), *splits("        "), *leaves("        ")])
    for l in range(L):
        o(f"        acc{l} += e{C - 1}_{l} * dh")
    out.extend(stored({"dw_p": "acc"}, L))
    o("")
    # backward
    o("@triton.jit")
    o("def bwd(v_p, b_p, s_p, w_p, temp_p, g_p, dh_p, dv_p, db_p, ds_p, T, B, BLOCK: tl.constexpr):")
    out.extend(head())
    for l in range(L):
        o(f"    g{l} = tl.load(g_p + (pid * 2 + half) * {L} + {l})")
    out.extend([*nothing(["db", "ds"], C), *rows(read_dh), *splits("        ")])
    for l in range(L):
        o(f"        G{l} = g{l} + dh * w{l}")
    # derivative by each split: contract all the others
    for c in range(C):
        half = {l: f"(G{l} - G{l | (1 << c)})" for l in range(L) if not l >> c & 1}
        names = {}
        for l, x in half.items():
            names[l] = f"d{c}_{l}"
            o(f"        d{c}_{l} = {x}")
        for k in range(C):
            if k == c:
                continue
            new = {}
            for l in names:
                if not l >> k & 1:
                    n = f"d{c}_{l}_{k}"
                    o(f"        {n} = {names[l]} * H{k} + {names[l | (1 << k)]} * N{k}")
                    new[l] = n
            names = new
        o(f"        D{c} = {names[0]}")
    o("        dv0 = tl.zeros((BLOCK,), tl.float32)")
    o("        dv1 = tl.zeros((BLOCK,), tl.float32)")
    for c in range(C):
        o(f"        a = tl.sqrt(H{c})")
        o(f"        q = tl.sqrt(tl.maximum(N{c}, 0.0))")
        o(f"        dz = tl.where(ok, D{c} * a * q / (a + q + 1e-12), 0.0)")
        o(f"        dv{c % 2} += dz * i{c}")
        o(f"        db{c} -= dz * i{c}")
        o(f"        ds{c} -= dz * Z{c}")
    o("        tl.store(dv_p + base + col, dv0, mask=ok)")
    o("        tl.store(dv_p + base + 2 * B + col, dv1, mask=ok)")
    out.extend(stored({"db_p": "db", "ds_p": "ds"}, C))
    o("")
    o("@triton.jit")
    o("def entmax(z_p, p_p, n, BLOCK: tl.constexpr):")
    o("""    row = tl.program_id(0).to(tl.int64); i = tl.arange(0, BLOCK); ok = i < n
    z = tl.load(z_p + row * n + i, mask=ok, other=-float('inf'))
    z = (z - tl.max(z)) * 0.5
    lo = -1.0; hi = 0.0
    for _ in range(26):
        mid = (lo + hi) * 0.5
        d = tl.maximum(z - mid, 0.0)
        big = tl.sum(d * d) > 1.0
        lo = tl.where(big, mid, lo); hi = tl.where(big, hi, mid)
    inn = (z > lo).to(tl.float32)
    zz = tl.where(z > lo, z, 0.0)
    k = tl.sum(inn); m = tl.sum(zz) / k
    dev = tl.where(z > lo, z - m, 0.0)
    tau = m - tl.sqrt(tl.maximum(1.0 - tl.sum(dev * dev), 0.0) / k)
    d = tl.maximum(z - tau, 0.0)
    tl.store(p_p + row * n + i, d * d, mask=ok)""")
    return "\n".join(out) + "\n"
