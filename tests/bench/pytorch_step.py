#!/usr/bin/python3
"""Times one training step of a Mamba-2 forecast model in PyTorch.

The model of m2run (forecast head, readout last): input projection, n blocks
r + Mixer(RMSNorm(r)), RMSNorm of the last row, head; mean squared error,
gradient clipping, AdamW.  The scan is written as matrix products over one
chunk (Dao & Gu 2024, section 6), which is what suits eager PyTorch best.

Prints one line: threads, milliseconds of the fastest and the median step.
Run it with OMP_NUM_THREADS and OPENBLAS_NUM_THREADS set to the same number as
--threads; run.sh does.
"""
import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        rs = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
        return x * rs * self.weight


class Mixer(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.o = o
        inner = o.expand * o.d_model
        self.inner, self.heads = inner, inner // o.headdim
        channels = inner + 2 * o.d_state
        self.in_proj = nn.Linear(
            o.d_model, inner + channels + self.heads, bias=False)
        self.conv_weight = nn.Parameter(
            torch.empty(channels, o.d_conv).uniform_(-0.5, 0.5))
        self.conv_bias = nn.Parameter(torch.zeros(channels))
        self.dt_bias = nn.Parameter(torch.full((self.heads,), -4.0))
        self.a_log = nn.Parameter(
            torch.empty(self.heads).uniform_(1, 16).log())
        self.d = nn.Parameter(torch.ones(self.heads))
        self.norm = RMSNorm(inner)
        self.out_proj = nn.Linear(inner, o.d_model, bias=False)
        self.register_buffer("lower", torch.tril(
            torch.ones(o.window, o.window, dtype=torch.bool)))

    def conv(self, x):
        k = self.o.d_conv
        if self.o.conv == "library":
            y = F.conv1d(x.transpose(1, 2), self.conv_weight[:, None],
                         self.conv_bias, padding=k - 1,
                         groups=x.shape[2])[..., :x.shape[1]]
            return F.silu(y.transpose(1, 2))
        padded = F.pad(x, (0, 0, k - 1, 0))
        y = self.conv_bias
        for i in range(k):
            y = y + padded[:, i:i + x.shape[1]] * self.conv_weight[:, i]
        return F.silu(y)

    def scan(self, x, dt, b, c):
        """x [B,L,H,P], dt [B,L,H], b and c [B,L,N]"""
        s = torch.cumsum(dt.double() * -self.a_log.double().exp(), 1)
        s = s.transpose(1, 2)
        decay = (s[..., :, None] - s[..., None, :]).to(x.dtype)
        decay = decay.masked_fill(~self.lower, float("-inf")).exp()
        gram = c @ b.transpose(1, 2)
        mix = gram[:, None] * decay * dt.transpose(1, 2)[:, :, None]
        y = (mix @ x.transpose(1, 2)).transpose(1, 2)
        return y + self.d[:, None] * x

    def forward(self, u):
        o = self.o
        batch, length = u.shape[:2]
        z, xbc, dt = self.in_proj(u).split(
            [self.inner, self.inner + 2 * o.d_state, self.heads], -1)
        x, b, c = self.conv(xbc).split(
            [self.inner, o.d_state, o.d_state], -1)
        dt = F.softplus(dt + self.dt_bias).clamp(1e-6, 1.0)
        y = self.scan(x.reshape(batch, length, self.heads, o.headdim),
                      dt, b, c)
        y = y.reshape(batch, length, self.inner)
        return self.out_proj(self.norm(y * F.silu(z)))


class Model(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.input_proj = nn.Linear(o.features, o.d_model)
        self.norms = nn.ModuleList(
            RMSNorm(o.d_model) for _ in range(o.n_layer))
        self.mixers = nn.ModuleList(Mixer(o) for _ in range(o.n_layer))
        self.norm_f = RMSNorm(o.d_model)
        self.head = nn.Linear(o.d_model, 1)

    def forward(self, x):
        r = self.input_proj(x)
        for norm, mixer in zip(self.norms, self.mixers):
            r = r + mixer(norm(r))
        return self.head(self.norm_f(r[:, -1]))


def options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--dtype", choices=["f32", "f64"], default="f32")
    p.add_argument("--conv", choices=["shifted", "library"],
                   default="shifted")
    for name, value in [("d_model", 256), ("n_layer", 6), ("d_state", 16),
                        ("headdim", 64), ("expand", 2), ("d_conv", 4),
                        ("window", 60), ("batch", 32), ("features", 16)]:
        p.add_argument("--" + name, type=int, default=value)
    return p.parse_args()


def main():
    o = options()
    torch.set_num_threads(o.threads)
    torch.manual_seed(0)
    if o.dtype == "f64":
        torch.set_default_dtype(torch.float64)
    model = Model(o)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    x = torch.randn(o.batch, o.window, o.features)
    target = torch.randn(o.batch, 1)
    # On one thread CPU time counts: it means something on a busy machine too.
    clock = time.process_time if o.threads == 1 else time.perf_counter
    times = []
    for _ in range(o.steps + 2):
        start = clock()
        optimiser.zero_grad(set_to_none=True)
        loss = F.mse_loss(model(x), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        loss.item()
        times.append(1e3 * (clock() - start))
    times = sorted(times[2:])
    print(f"pytorch {torch.__version__} {o.dtype} threads {o.threads} "
          f"best {times[0]:.1f} median {times[len(times) // 2]:.1f} ms")


if __name__ == "__main__":
    main()
