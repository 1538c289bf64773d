"""Which device is taken, and what is said where there is none."""

from __future__ import annotations

import importlib.util

import pytest
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.execution.devices import resolve_device

HAS_PYTORCH = importlib.util.find_spec("torch") is not None


def has_gpu():
    if not HAS_PYTORCH:
        return False
    import torch

    return torch.cuda.is_available()


def test_the_processor_is_the_default():
    assert cr.get_config()["device"] == "cpu"


def test_only_known_devices_are_accepted():
    with refused(ParameterError, "device"):
        cr.set_config(device="gpu")


@pytest.mark.skipif(HAS_PYTORCH, reason="PyTorch is installed")
@pytest.mark.parametrize("asked", ["cuda", "torch"])
def test_without_pytorch_a_sentence_says_what_to_install(asked):
    with refused(ParameterError, "device") as error:
        resolve_device(asked)
    assert error.value.parameter == "device"


@pytest.mark.skipif(not HAS_PYTORCH or has_gpu(), reason="no PyTorch, or a GPU is there")
def test_without_a_gpu_a_sentence_says_so():
    with pytest.raises(ParameterError):
        resolve_device("cuda")


@pytest.mark.skipif(has_gpu(), reason="a GPU is there")
def test_automatically_the_processor_is_taken_where_there_is_no_gpu():
    assert resolve_device("auto") == "cpu"
