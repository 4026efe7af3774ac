"""Triton kernels for a decoding step of one token per row. `step_ops` checks them against plain PyTorch before use.

Imported only if Triton is installed.
"""

import triton
import triton.language as tl

# SplitMix64, as in `token_sampling`.
GAP = tl.constexpr(0x9E3779B97F4A7C15)
FIRST = tl.constexpr(0xBF58476D1CE4E5B9)
SECOND = tl.constexpr(0x94D049BB133111EB)


@triton.jit
def add_and_norm(states, delta, weight, out, eps, width, HAS_DELTA: tl.constexpr, BLOCK: tl.constexpr):
    """states += delta; out = RMS norm of states. One program per row."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    real = at < width
    address = states + row * width + at
    value = tl.load(address, mask=real, other=0.0)
    if HAS_DELTA:
        more = tl.load(delta + row * width + at, mask=real, other=0.0)
        value = (value.to(tl.float32) + more.to(tl.float32)).to(states.dtype.element_ty)
        tl.store(address, value, mask=real)
    wide = value.to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(wide * wide, axis=0) / width + eps)
    even = (wide * scale).to(out.dtype.element_ty).to(tl.float32)
    factor = tl.load(weight + at, mask=real, other=0.0).to(tl.float32)
    tl.store(out + row * width + at, even * factor, mask=real)


@triton.jit
def gate(both, out, width, BLOCK: tl.constexpr):
    """silu(first half) * second half."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    real = at < width
    one = tl.load(both + row * 2 * width + at, mask=real, other=0.0).to(tl.float32)
    two = tl.load(both + row * 2 * width + width + at, mask=real, other=0.0).to(tl.float32)
    activated = (one / (1.0 + tl.exp(-one))).to(out.dtype.element_ty).to(tl.float32)
    tl.store(out + row * width + at, activated * two, mask=real)


@triton.jit
def attend(
    projected,
    cosine,
    sine,
    query_norm,
    key_norm,
    keys,
    values,
    rows,
    positions,
    written,
    out,
    eps,
    scale,
    row_stride,
    head_stride,
    HEADS: tl.constexpr,
    SHARED: tl.constexpr,
    GROUP: tl.constexpr,
    PADDED: tl.constexpr,
    WIDTH: tl.constexpr,
    HALF: tl.constexpr,
    NORMS: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Rotates the new query and key, writes key and value to the cache and attends to the row's tokens.

    One program per sequence and key-value head. The new token initializes the running sum, so nothing written here has
    to be read back.
    """
    kind = keys.dtype.element_ty
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1).to(tl.int64)
    position = tl.load(positions + row)
    target = tl.load(written + row)
    near = tl.arange(0, HALF)
    group = tl.arange(0, PADDED)
    real = (group < GROUP)[:, None]
    start = projected + row * (HEADS + 2 * SHARED) * WIDTH
    queries = start + (head * GROUP + group)[:, None] * WIDTH + near[None, :]
    q1 = tl.load(queries, mask=real, other=0.0).to(tl.float32)
    q2 = tl.load(queries + HALF, mask=real, other=0.0).to(tl.float32)
    fresh = start + (HEADS + head) * WIDTH + near
    k1 = tl.load(fresh).to(tl.float32)
    k2 = tl.load(fresh + HALF).to(tl.float32)
    column = tl.arange(0, WIDTH)
    v = tl.load(start + (HEADS + SHARED + head) * WIDTH + column)
    if NORMS:
        q_scale = 1.0 / tl.sqrt((tl.sum(q1 * q1, axis=1) + tl.sum(q2 * q2, axis=1)) / WIDTH + eps)
        q1 = (q1 * q_scale[:, None]).to(kind).to(tl.float32) * tl.load(query_norm + near).to(tl.float32)[None, :]
        q2 = (q2 * q_scale[:, None]).to(kind).to(tl.float32) * tl.load(query_norm + HALF + near).to(tl.float32)[None, :]
        q1, q2 = q1.to(kind).to(tl.float32), q2.to(kind).to(tl.float32)
        k_scale = 1.0 / tl.sqrt((tl.sum(k1 * k1, axis=0) + tl.sum(k2 * k2, axis=0)) / WIDTH + eps)
        k1 = (k1 * k_scale).to(kind).to(tl.float32) * tl.load(key_norm + near).to(tl.float32)
        k2 = (k2 * k_scale).to(kind).to(tl.float32) * tl.load(key_norm + HALF + near).to(tl.float32)
        k1, k2 = k1.to(kind).to(tl.float32), k2.to(kind).to(tl.float32)
    # Both halves of the RoPE tables are equal in these models.
    c = tl.load(cosine + position * WIDTH + near).to(tl.float32)
    s = tl.load(sine + position * WIDTH + near).to(tl.float32)
    turned1 = (q1 * c[None, :] - q2 * s[None, :]).to(kind)
    turned2 = (q2 * c[None, :] + q1 * s[None, :]).to(kind)
    key1 = (k1 * c - k2 * s).to(kind)
    key2 = (k2 * c + k1 * s).to(kind)
    base = tl.load(rows + row) * row_stride + head * head_stride
    tl.store(keys + base + target * WIDTH + near, key1)
    tl.store(keys + base + target * WIDTH + HALF + near, key2)
    tl.store(values + base + target * WIDTH + column, v)

    best = tl.sum(turned1.to(tl.float32) * key1.to(tl.float32)[None, :], axis=1)
    best += tl.sum(turned2.to(tl.float32) * key2.to(tl.float32)[None, :], axis=1)
    best = best * scale
    total = tl.full((PADDED,), 1.0, tl.float32)
    mixed = tl.zeros((PADDED, WIDTH), tl.float32) + v.to(tl.float32)[None, :]
    steps = tl.arange(0, BLOCK)
    for begin in range(0, position, BLOCK):
        at = begin + steps
        valid = at < position
        key_address = keys + base + at[:, None] * WIDTH + near[None, :]
        old1 = tl.load(key_address, mask=valid[:, None], other=0.0)
        old2 = tl.load(key_address + HALF, mask=valid[:, None], other=0.0)
        scores = tl.dot(turned1, tl.trans(old1), input_precision=PRECISION)
        scores += tl.dot(turned2, tl.trans(old2), input_precision=PRECISION)
        scores = tl.where(valid[None, :], scores * scale, float("-inf"))
        maximum = tl.maximum(best, tl.max(scores, axis=1))
        rescale = tl.exp(best - maximum)
        weights = tl.exp(scores - maximum[:, None])
        seen = tl.load(values + base + at[:, None] * WIDTH + column[None, :], mask=valid[:, None], other=0.0)
        total = total * rescale + tl.sum(weights, axis=1)
        mixed = mixed * rescale[:, None] + tl.dot(weights.to(kind), seen, input_precision=PRECISION)
        best = maximum
    result = (mixed / total[:, None]).to(out.dtype.element_ty)
    destination = out + row * HEADS * WIDTH + (head * GROUP + group)[:, None] * WIDTH + column[None, :]
    tl.store(destination, result, mask=real)


@triton.jit
def _mixed(bits):
    bits = (bits ^ (bits >> 30)) * FIRST
    bits = (bits ^ (bits >> 27)) * SECOND
    return bits ^ (bits >> 31)


@triton.jit
def sample(
    logits,
    temperatures,
    seeds,
    tokens,
    positions,
    steps,
    cursor,
    found,
    vocabulary,
    rows,
    BLOCK: tl.constexpr,
):
    """`sample_rows` without truncation; stores the result at the cursor and advances the row. One program per row."""
    row = tl.program_id(0).to(tl.int64)
    start = logits + row * vocabulary
    span = tl.arange(0, BLOCK)
    temperature = tl.load(temperatures + row).to(tl.float32)
    is_greedy = temperature == 0.0
    divisor = tl.where(is_greedy, 1.0, temperature)

    top = tl.full((), float("-inf"), tl.float32)
    greedy = tl.full((), 0, tl.int32)
    for begin in range(0, vocabulary, BLOCK):
        at = begin + span
        value = tl.load(start + at, mask=at < vocabulary, other=float("-inf")).to(tl.float32)
        high = tl.max(value, axis=0)
        where = tl.argmax(value, axis=0) + begin
        greedy = tl.where(high > top, where, greedy)
        top = tl.maximum(top, high)

    plain = tl.full((), 0.0, tl.float64)
    total = tl.full((), 0.0, tl.float64)
    for begin in range(0, vocabulary, BLOCK):
        at = begin + span
        value = tl.load(start + at, mask=at < vocabulary, other=float("-inf")).to(tl.float32) - top
        plain += tl.sum(tl.exp(value).to(tl.float64), axis=0)
        total += tl.sum(tl.exp(value / divisor).to(tl.float64), axis=0)

    seed = tl.load(seeds + row).to(tl.uint64, bitcast=True)
    number = (tl.load(steps + row) + 1).to(tl.uint64, bitcast=True)
    bits = _mixed(_mixed(seed + GAP) + number * GAP)
    goal = (bits >> 11).to(tl.float64) * (1.0 / 9007199254740992.0) * total

    before = tl.full((), 0.0, tl.float64)
    chosen = tl.full((), -1, tl.int32)
    last = tl.full((), 0, tl.int32)
    for begin in range(0, vocabulary, BLOCK):
        at = begin + span
        value = tl.load(start + at, mask=at < vocabulary, other=float("-inf")).to(tl.float32) - top
        probability = tl.exp(value / divisor).to(tl.float64)
        sums = before + tl.cumsum(probability, axis=0)
        past = tl.min(tl.where((sums > goal) & (probability > 0.0), at, 2147483647), axis=0)
        chosen = tl.where((chosen < 0) & (past < 2147483647), past, chosen)
        last = tl.maximum(last, tl.max(tl.where(probability > 0.0, at, 0), axis=0))
        before += tl.sum(probability, axis=0)
    token = tl.where(chosen < 0, last, chosen)
    token = tl.where(is_greedy, greedy, token)

    score = tl.load(start + token).to(tl.float32) - top
    model = score.to(tl.float64) - tl.log(plain)
    sampled = (score / divisor).to(tl.float64) - tl.log(total)
    sampled = tl.where(is_greedy, 0.0, sampled)
    target = found + tl.load(cursor) * 3 * rows + row
    tl.store(target, token.to(tl.float64))
    tl.store(target + rows, sampled)
    tl.store(target + 2 * rows, model)
    tl.store(tokens + row, token.to(tl.int64))
    tl.store(positions + row, tl.load(positions + row) + 1)
    tl.store(steps + row, tl.load(steps + row) + 1)
