#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Make the .safetensors files of this folder again, with the writer that everybody uses.

    make.py [FOLDER]    needs: safetensors==0.8.0 numpy==2.4.6 torch==2.13.0

types.safetensors     a tensor of every dtype that attest reads, rank 0 to 3, two empty ones, one name that is not ASCII
attention.safetensors a case in bf16: PyTorch's fused attention, conventions in __metadata__["attest"]
float8.safetensors    a dtype that attest does not read
"""
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
torch.set_num_threads(1)


def save(name, tensors, metadata=None):
    save_file({key: value.contiguous() for key, value in tensors.items()}, folder / name, metadata)
    (folder / name).chmod(0o644)


TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
         "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "u16": torch.uint16,
         "u32": torch.uint32, "u64": torch.uint64}
tensors = {name: torch.tensor([[1, 2, 3], [4, 5, 96]]).to(dtype) for name, dtype in TYPES.items()}
tensors["bool"] = torch.tensor([[[True, False]], [[False, True]]])
tensors["scalar"] = torch.tensor(-0.5)
tensors["empty"] = torch.zeros(0, 4, dtype=torch.float64)
tensors["empty_too"] = torch.zeros(3, 0, dtype=torch.float64)
tensors["Größe"] = torch.tensor([float("inf"), float("nan"), -0.0], dtype=torch.bfloat16)
save("types.safetensors", tensors, {"note": 'a "quoted" word,\na new line, an é'})

generator = torch.Generator().manual_seed(7)
q, k, v = (torch.randn(1, 2, n, 8, generator=generator, dtype=torch.float64).to(torch.bfloat16) for n in (5, 7, 7))
out = F.scaled_dot_product_attention(q, k, v)
save("attention.safetensors", {"q": q, "k": k, "v": v, "out": out},
     {"attest": json.dumps({"op": "attention", "arithmetic": "bf16+f32"})})

save("float8.safetensors", {"q": torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn), "k": torch.tensor([1.0, 2.0])})
