"""DIAD in plain eager PyTorch: the yardstick of `diad-bench speed`.

One step does what one step of the engine does: the same batch, the same trees, the same loss, the same updates.

    python reference.py TABLE.parquet [--threads 2] [--seed 0] [--set trees=300 ...]

reads one request a line from standard input and answers each with one JSON object a line:

    soft N     N steps with soft selectors at temperature 0.5; answers the seconds of one step
    onehot N   N steps with one-hot selectors at the lowest temperature; answers the seconds of one step
    fit        the whole schedule from a fresh start; answers the seconds and the AUC in %
"""

import argparse
import json
import math
import sys
import time

import numpy as np
import pandas as pd
import torch
from torch import nn

DEFAULTS = dict(
    layers=3, trees=300, depth=4, outputs=2, attention=12, feature_share=0.4, batch=2048, steps=2000, warmup=1000,
    learning_rate=1e-3, anneal=1000, min_temperature=0.1, smoothing=50.0, damping=0.1, dropout=0.75,
)


class SparseSoftmax(torch.autograd.Function):
    """1.5-entmax of halved logits, given its threshold."""

    @staticmethod
    def forward(ctx, logits, threshold, dim):
        chosen = torch.clamp(logits - threshold, min=0) ** 2
        ctx.save_for_backward(chosen)
        ctx.dim = dim
        return chosen

    @staticmethod
    def backward(ctx, gradient):
        (chosen,) = ctx.saved_tensors
        root = chosen.sqrt()
        scaled = gradient * root
        mean = scaled.sum(ctx.dim, keepdim=True) / root.sum(ctx.dim, keepdim=True)
        return 2 * (scaled - mean * root), None, None


def entmax15(logits, dim):
    half = (logits - logits.max(dim=dim, keepdim=True).values) / 2
    ordered, _ = torch.sort(half, dim=dim, descending=True)
    shape = [1] * logits.dim()
    shape[dim] = -1
    count = torch.arange(1, logits.shape[dim] + 1, dtype=logits.dtype).view(shape)
    mean, square = ordered.cumsum(dim) / count, (ordered * ordered).cumsum(dim) / count
    thresholds = mean - torch.sqrt(torch.clamp((1 - count * (square - mean * mean)) / count, min=0))
    support = (thresholds <= ordered).sum(dim, keepdim=True)
    return SparseSoftmax.apply(half, thresholds.gather(dim, support - 1).detach(), dim)


class SparseSigmoid(torch.autograd.Function):
    """The two-class 1.5-entmax."""

    @staticmethod
    def forward(ctx, x):
        size = x.abs()
        tau = (size + torch.sqrt(torch.clamp(8 - size * size, min=0))) / 2
        tau = torch.where(tau <= size, torch.full_like(tau, 2.0), tau)
        rest = 0.25 * torch.clamp(tau - size, min=0) ** 2
        value = torch.where(x >= 0, 1 - rest, rest)
        ctx.save_for_backward(value)
        return value

    @staticmethod
    def backward(ctx, gradient):
        (value,) = ctx.saved_tensors
        left, right = value.sqrt(), (1 - value).clamp(min=0).sqrt()
        scaled = gradient * left
        return scaled - scaled / (left + right + 1e-12) * left


class Layer(nn.Module):
    def __init__(self, settings, features, earlier, generator):
        super().__init__()
        trees, self.depth, self.features, self.earlier = settings.trees, settings.depth, features, earlier
        wanted = features if settings.feature_share >= 1 else math.ceil(features * settings.feature_share)
        allowed = torch.zeros(trees, features)
        for tree in range(trees):
            allowed[tree, torch.randperm(features, generator=generator)[: min(features, max(2, wanted))]] = 1
        self.register_buffer("allowed", allowed)
        self.logits = nn.Parameter(torch.rand(2, trees, features, generator=generator))
        self.threshold = nn.Parameter(torch.zeros(trees, self.depth))
        self.log_slope = nn.Parameter(torch.zeros(trees, self.depth))
        self.weight = torch.zeros(trees, settings.outputs, 2**self.depth).normal_(generator=generator)
        self.started = False
        if earlier:
            self.key = nn.Parameter(torch.rand(earlier, settings.attention, generator=generator))
            self.query = nn.Parameter(torch.rand(settings.attention, trees, generator=generator))

    def select(self, temperature, onehot):
        logits = self.logits * self.allowed - 20 * (1 - self.allowed)
        if onehot:
            return nn.functional.one_hot(logits.argmax(-1), self.features).to(logits.dtype)
        return entmax15(logits / temperature, -1)

    def values(self, x, outputs, selectors, temperature, onehot):
        """The two values every tree splits, and its selectors."""
        own = self.select(temperature, onehot)
        values = torch.einsum("bd,ctd->btc", x, own)
        if self.earlier:
            dot = lambda i, j: selectors[i] @ own[j].t()
            match = (dot(0, 0) * dot(1, 1) + dot(1, 0) * dot(0, 1)).clamp(max=1.0)
            attention = entmax15((match + 1e-6).log() + self.key @ self.query, 0)
            values = values + (outputs @ (match * attention)).unsqueeze(-1)
        return values, own

    def by_split(self, values):
        return values.repeat(1, 1, (self.depth + 1) // 2)[..., : self.depth]

    def start(self, values, random):
        """Thresholds at random quantiles of the first batch, slopes that reach all of it."""
        values = self.by_split(values.detach())
        quantile = torch.tensor(random.beta(1, 1, size=self.threshold.shape), dtype=values.dtype)
        ordered = values.sort(0).values
        row = (quantile * (ordered.shape[0] - 1)).round().long().unsqueeze(0)
        self.threshold.data = ordered.gather(0, row)[0]
        self.log_slope.data = torch.log((values - self.threshold).abs().max(0).values + 1e-6)
        self.started = True

    def leaves(self, values, temperature):
        scaled = (self.by_split(values) - self.threshold) * torch.exp(-self.log_slope)
        split = SparseSigmoid.apply(scaled / temperature)
        leaves = torch.ones(*split.shape[:2], 1)
        for place in range(self.depth):
            left = split[..., place : place + 1]
            leaves = torch.cat([leaves * left, leaves * (1 - left)], -1)
        return leaves


class Diad(nn.Module):
    def __init__(self, settings, features, generator):
        super().__init__()
        self.settings = settings
        per_layer = settings.trees * settings.outputs
        self.layers = nn.ModuleList(
            Layer(settings, features, place * per_layer, generator) for place in range(settings.layers)
        )

    def forward(self, x, temperature, onehot, random=None):
        """All outputs of all trees, and every layer's leaves."""
        outputs = selectors = None
        leaves = []
        for layer in self.layers:
            values, own = layer.values(x, outputs, selectors, temperature, onehot)
            if random is not None and not layer.started:
                layer.start(values, random)
            leaves.append(layer.leaves(values, temperature))
            new = torch.einsum("btl,tkl->btk", leaves[-1], layer.weight).reshape(x.shape[0], -1)
            own = own.unsqueeze(2).expand(-1, -1, self.settings.outputs, -1).reshape(2, -1, own.shape[-1])
            outputs = new if outputs is None else torch.cat([outputs, new], 1)
            selectors = own if selectors is None else torch.cat([selectors, own], 1)
        return outputs, leaves

    def score(self, x, rows=8192):
        scores = []
        with torch.no_grad():
            for part in x.split(rows):
                outputs, _ = self(part, self.settings.min_temperature, True)
                scores.append(outputs.view(part.shape[0], -1, self.settings.outputs)[..., 0].mean(1))
        return torch.cat(scores)


class Trainer:
    def __init__(self, settings, x, seed):
        generator = torch.Generator().manual_seed(seed)
        self.random = np.random.RandomState(seed)
        torch.manual_seed(seed)
        self.settings, self.x, self.steps_done = settings, x, 0
        self.model = Diad(settings, x.shape[1], generator)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=settings.learning_rate)
        self.batch = min(settings.batch, x.shape[0])
        self.order, self.place = torch.randperm(x.shape[0]), 0

    def next_rows(self):
        if self.place + self.batch > len(self.order):
            self.order, self.place = torch.randperm(len(self.order)), 0
        rows = self.order[self.place : self.place + self.batch]
        self.place += self.batch
        return self.x[rows]

    def step(self, temperature, onehot):
        settings, first = self.settings, self.steps_done == 0
        x = self.next_rows()
        for group in self.optimiser.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, (self.steps_done + 1) / max(1, settings.warmup))
        uniform = torch.rand(self.batch, x.shape[1]) * 2 - 1
        _, data_leaves = self.model(x, temperature, onehot, self.random if first else None)
        _, uniform_leaves = self.model(uniform, temperature, onehot)
        loss, sparsity = 0.0, []
        for data, volume in zip(data_leaves, uniform_leaves):
            data, volume = data.sum(0) + settings.smoothing, volume.sum(0) + settings.smoothing
            data, volume = data / data.sum(-1, keepdim=True), volume / volume.sum(-1, keepdim=True)
            gain = (volume**2 / data).sum(-1)
            if settings.dropout > 0:
                gain = gain * (torch.rand_like(gain) > settings.dropout) / (1 - settings.dropout)
            loss = loss - gain.sum()
            sparsity.append((volume / data).detach())
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        with torch.no_grad():
            for layer, value in zip(self.model.layers, sparsity):
                low, high = value.min(), value.max()
                new = (2 * (value - low) / (high - low + 1e-6) - 1).unsqueeze(1)
                share = 1.0 if first else settings.damping
                layer.weight = (1 - share) * layer.weight + share * new
        self.steps_done += 1

    def scheduled_step(self):
        done = self.steps_done / self.settings.anneal if self.settings.anneal else 1.0
        onehot = done >= 1
        lowest = self.settings.min_temperature
        self.step(lowest if onehot else 1 + done * (lowest - 1), onehot)


def read(path):
    table = pd.read_parquet(path)
    labels = table.pop("label").to_numpy() if "label" in table else None
    values = table.to_numpy(np.float64)
    low, high = values.min(0), values.max(0)
    scaled = (values - low) / np.where(high > low, high - low, 1) * 2 - 1
    return torch.tensor(scaled.astype(np.float32)), labels


def auc(labels, scores):
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2.0)[place]
    anomalies = int(labels.sum())
    pairs = anomalies * (len(labels) - anomalies)
    return float((ranks[labels == 1].sum() - anomalies * (anomalies + 1) / 2) / pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = dict(DEFAULTS)
    for given in options.set:
        name, value = given.split("=", 1)
        if name not in settings:
            sys.exit(f"there is no setting {name}")
        settings[name] = type(settings[name])(value)
    settings = argparse.Namespace(**settings)
    x, labels = read(options.table)
    trainer = Trainer(settings, x, options.seed)
    trainer.step(1.0, False)
    print(json.dumps({"ready": True, "version": torch.__version__}), flush=True)
    for line in sys.stdin:
        request, *count = line.split()
        start = time.perf_counter()
        if request == "fit":
            trainer = Trainer(settings, x, options.seed)
            for _ in range(settings.steps):
                trainer.scheduled_step()
            seconds = time.perf_counter() - start
            scores = trainer.model.score(x).double().numpy()
            answer = {"seconds": seconds, "auc": None if labels is None else 100 * auc(labels, scores)}
        else:
            steps, onehot = int(count[0]), request == "onehot"
            for _ in range(steps):
                trainer.step(settings.min_temperature if onehot else 0.5, onehot)
            answer = {"seconds": (time.perf_counter() - start) / steps}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
