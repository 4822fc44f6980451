"""Scores by a JSON export, with nothing but the standard library: what docs/exports.md says, as plainly as it can be said."""

import math
import struct
from bisect import bisect_right

MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a", "nat", "\\n", "n.a.", "(null)", "-nan", "#na", "#n/a n/a"}


def is_finite(cell):
    return isinstance(cell, (int, float)) and math.isfinite(cell)


def part_of(time, part):
    day = math.floor(time / 86400)
    if part == "date":
        return time / 86400
    if part == "hour":
        return (time - day * 86400) / 3600
    if part == "weekday":
        return (day + 3) % 7 + 1
    of_era = (day + 719468) % 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    return ((5 * (of_era - (365 * year + year // 4 - year // 100)) + 2) // 153 + 2) % 12 + 1


def is_gone(cell, trimmed):
    return cell is None or (trimmed and cell.strip().lower() in MISSING)


def feature_of(feature, cell):
    if feature["view"] == "missing":
        return -1.0 if is_finite(cell) else 1.0
    if feature["view"] == "category":
        if is_gone(cell, feature["trimmed"]):
            return feature["missing"]
        cell = cell.strip() if feature["trimmed"] else cell
        return dict(feature["folded"]).get(cell.lower(), dict(feature["texts"]).get(cell, feature["other"]))
    if not is_finite(cell):
        return feature["missing"]
    x = part_of(cell, feature["part"]) if "part" in feature else cell
    if "asinh" in feature:
        median, spread = feature["asinh"]
        x = math.asinh((x - median) / spread)
    low, high = feature["low"], feature["high"]
    x = (x - low) / ((high - low) or 1.0) * 2 - 1
    return struct.unpack("f", struct.pack("f", min(max(x, -1e30), 1e30)))[0]


def between(x, nodes, values, beyond=(0.0, 0.0)):
    if x < nodes[0]:
        return values[0] + (nodes[0] - x) * beyond[0]
    if x >= nodes[-1]:
        return values[-1] + (x - nodes[-1]) * beyond[1]
    k = bisect_right(nodes, x) - 1
    return values[k] + (x - nodes[k]) / (nodes[k + 1] - nodes[k]) * (values[k + 1] - values[k])


def tree_at(tree, x):
    splits = []
    for k, (threshold, steepness) in enumerate(zip(tree["thresholds"], tree["steepness"])):
        cut = min(max(x[tree["features"][k % 2]], -1.0), 1.0)
        u = min(max((cut - threshold) * steepness, -1.0), 1.0)
        splits.append(u * math.sqrt(2 - u * u))
    product = lambda set: math.prod(split for k, split in enumerate(splits) if set >> k & 1)
    return sum(c * product(set) for set, c in enumerate(tree["coefficients"]))


def score(plan, row):
    x = [feature_of(feature, row[feature["input"]]) for feature in plan["features"]]
    places = [between(x[side["feature"]], side["nodes"], side["places"]) for side in plan["sides"]]
    total = plan["base"]
    for term in plan["terms"]:
        total += sum(between(x[c["feature"]], c["nodes"], c["values"], c["beyond"]) for c in term["curves"])
        total += sum(tree_at(tree, x) for tree in term["trees"])
        for grid in term["grids"]:
            (p, q), across = (places[side] for side in grid["sides"]), plan["sides"][grid["sides"][1]]["places"][-1] + 1
            down = range(across)
            rows = [between(q, down, grid["values"][i * across : (i + 1) * across]) for i in (math.floor(p), math.ceil(p))]
            total += rows[0] + (p - math.floor(p)) * (rows[1] - rows[0])
    trimmed = {f["input"] for f in plan["features"] if f.get("trimmed")}
    for i, (given, cell) in enumerate(zip(plan["inputs"], row)):
        infinite = isinstance(cell, float) and math.isinf(cell)
        gone = is_gone(cell, i in trimmed) if given["kind"] == "category" else not is_finite(cell)
        total += given["penalty"] * (given["infinite_is_odd"] if infinite else gone and given["missing_is_odd"])
    return total
