"""Which device computes: what was asked for, what there is, and how it is called in results."""

from __future__ import annotations

import importlib.util
from typing import Any

from clustrep.errors import ParameterError
from clustrep.text import argument

PROCESSOR, GPU, PLAIN = "cpu", "cuda", "torch"
AUTOMATIC = "auto"
NEEDS_PYTORCH = "needs PyTorch: pip install 'clustrep[gpu]'"
# Of the memory that is free, how much may be filled.
SHARE_OF_MEMORY = 0.5
PLAIN_BYTES = 2**28


def resolve_device(asked: str) -> str:
    """Return "cpu", "cuda" or "torch"; "auto" takes a GPU where there is one.

    Examples
    --------
    >>> resolve_device("cpu")
    'cpu'
    """
    if asked == PROCESSOR:
        return PROCESSOR
    if importlib.util.find_spec("torch") is None:
        if asked == AUTOMATIC:
            return PROCESSOR
        raise ParameterError(f"{argument('device', asked)} {NEEDS_PYTORCH}.", parameter="device")
    if asked == PLAIN:
        return PLAIN
    import torch

    if torch.cuda.is_available():
        return GPU
    if asked == AUTOMATIC:
        return PROCESSOR
    raise ParameterError(
        f"{argument('device', 'cuda')} needs a GPU that PyTorch can use, and it finds none here "
        f"(PyTorch {torch.__version__}, {f'for CUDA {torch.version.cuda}' if torch.version.cuda else 'without CUDA'}). "
        f"{argument('device', 'auto')} takes a GPU where there is one, {argument('device', 'cpu')} none.",
        parameter="device",
    )


def torch_device(device: str) -> Any:
    """Return PyTorch's device."""
    import torch

    return torch.device("cuda" if device == GPU else "cpu")


def device_name(device: str) -> str | None:
    """Say on what a run is computed, for its record; None for the processor and the compiled kernels."""
    if device == PROCESSOR:
        return None
    import torch

    if device == GPU:
        return f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
    return f"cpu, PyTorch {torch.__version__}"


def free_bytes(device: str) -> int:
    """Return how many bytes a batch may fill."""
    if device != GPU:
        return PLAIN_BYTES
    import torch

    free, _ = torch.cuda.mem_get_info()
    held = torch.cuda.memory_stats_as_nested_dict()  # by PyTorch, in use or not; empty before the first use
    reserved, used = (
        held.get(name, {}).get("all", {}).get("current", 0) for name in ("reserved_bytes", "allocated_bytes")
    )
    return int(SHARE_OF_MEMORY * (free + reserved - used))
