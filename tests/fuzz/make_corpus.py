"""Writes the seed corpus: one or two short inputs for each target, by hand for the noise and the
channels, of fixed random bytes for the topics in other files."""
import pathlib
import random
import struct

here = pathlib.Path(__file__).parent / "corpus"
here.mkdir(exist_ok=True)
d, u64, u32 = (lambda *x: struct.pack(f"<{len(x)}d", *x)), (lambda *x: struct.pack(f"<{len(x)}Q", *x)), (lambda *x: struct.pack(f"<{len(x)}I", *x))
words = u64(0, 2**64 - 1, 2**63, 1, 0x0123456789ABCDEF, 0xAAAAAAAAAAAAAAAA)
seeds = {
    "exp_small": bytes([0]) + u32(2**31) + bytes([40]) + u32(2**31) + bytes([2]) + u64(2**63, 2**62),
    "exp_large": bytes([0]) + u32(2**32 - 1) + bytes([0]) + u32(1) + bytes([0]) + u64(2**64 - 1, 3),
    "response": bytes([1]) + d(1.0) + u32(5) + words,
    "response_large": bytes([1]) + d(1e308) + u32(2**31) + words,
    "channel": bytes([2, 1, 2, 1]) + u32(2**29) + bytes([0]) + b"\x00\x00\x00\x80\x00\x01" * 6 + words,
    "channel_raw": bytes([2, 1, 1, 8]) + u32(2**29) + bytes([0]) + d(0.75, 0.2, 0.25, 0.8) + words,
    "samplers": bytes([3]) + u64(6, 1, 9, 1) + words,
    "samplers_wide": bytes([3]) + u64(2**52 - 1, 0, 2**52 - 1, 1) + words,
    "plan_gaussian": bytes([4, 16]) + u32(2**31) + bytes([20]) + u32(2**31) + bytes([10, 1]) + struct.pack("<H", 1000) + bytes([3]) + d(1e308, 1.0, -1e308, 5e-324, float("nan"), 0.5) + words,
    "plan_laplace": bytes([4, 3]) + d(1.0, 0.5) + bytes([0]) + struct.pack("<H", 10) + bytes([2]) + d(0.6, 2.0, 0.8, -2.0) + words,
    "plan_count": bytes([4, 24]) + u32(1) + bytes([0]) + u32(2**30) + bytes([3, 0]) + struct.pack("<H", 1) + bytes([1]) + d(1.0, 0.0) + words,
}
# In the order of core_fuzz.cpp, from 5 on.
topics = [
    "finite_field", "block_design", "block_sampler", "group_transform", "spr", "spr_continuous",
    "lambda", "cells", "likelihood", "log_linear", "composition", "rounding", "ledger", "brownian",
    "laplace_path", "count_search", "exponential_mechanism", "records", "scatter", "tree_model",
    "tree_selection",
]
for number, topic in enumerate(topics, start=5):
    for length in (60, 240):
        content = random.Random(f"{topic} {length}").randbytes(length)
        seeds[f"{topic}_{length}"] = bytes([number]) + content
for name, content in seeds.items():
    (here / name).write_bytes(content)
