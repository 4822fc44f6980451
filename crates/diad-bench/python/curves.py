"""Small line plots, one a set, as SVG."""

from html import escape

COLOURS = ["#1f6fb4", "#d97a1d", "#6b7280", "#2f8f5b"]
WIDTH, HEIGHT, ACROSS = 190, 150, 5
LEFT, TOP, RIGHT, BOTTOM = 34, 24, 8, 22


def small_multiples(panels, ticks):
    """Panels {title: {line: [(x, y), ...]}}; the x axis has its ticks at equal distances."""
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    down = -(-len(panels) // ACROSS)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{ACROSS * WIDTH}" height="{down * HEIGHT + 26}" font-family="sans-serif" font-size="10">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for i, name in enumerate(names):
        x = 10 + 170 * i
        out.append(f'<line x1="{x}" y1="13" x2="{x + 22}" y2="13" stroke="{COLOURS[i]}" stroke-width="2"/>')
        out.append(f'<text x="{x + 28}" y="17">{escape(name)}</text>')
    for at, (title, lines) in enumerate(panels.items()):
        out += panel(title, lines, names, ticks, (at % ACROSS) * WIDTH, 26 + (at // ACROSS) * HEIGHT)
    return "\n".join([*out, "</svg>\n"])


def panel(title, lines, names, ticks, x0, y0):
    values = [y for points in lines.values() for _, y in points] or [0, 100]
    low, high = min(values), max(values)
    low, high = low - 0.05 * (high - low) - 0.5, high + 0.05 * (high - low) + 0.5
    across = lambda x: x0 + LEFT + (WIDTH - LEFT - RIGHT) * ticks.index(x) / (len(ticks) - 1)
    up = lambda y: y0 + TOP + (HEIGHT - TOP - BOTTOM) * (high - y) / (high - low)
    out = [f'<text x="{x0 + LEFT}" y="{y0 + 16}" font-weight="bold">{escape(title)}</text>']
    for y in (low + 0.5, (low + high) / 2, high - 0.5):
        out.append(f'<line x1="{x0 + LEFT}" x2="{x0 + WIDTH - RIGHT}" y1="{up(y):.1f}" y2="{up(y):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 + LEFT - 4}" y="{up(y) + 3:.1f}" text-anchor="end">{y:.0f}</text>')
    for x in ticks:
        out.append(f'<text x="{across(x):.1f}" y="{y0 + HEIGHT - 8}" text-anchor="middle">{x}</text>')
    for name, points in lines.items():
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[names.index(name)]}" stroke-width="1.6"/>')
    return out
