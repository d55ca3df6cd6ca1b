#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Make the dumps of this folder again, in a virtual environment of its own.
#
#   make.sh [ENVIRONMENT [FOLDER]]    defaults: build/dumps-environment in the project's root; this folder
#
# PYTHON names the interpreter (3.11 or newer). On Linux the default wheel of torch brings gigabytes of CUDA with it;
# pip's own settings (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL) choose an index with the CPU wheels, which are enough.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
environment=${1:-$here/../../build/dumps-environment}
folder=${2:-$here}

[ -x "$environment/bin/python" ] || "${PYTHON:-python3}" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
    numpy==2.4.6 scipy==1.17.1 ml_dtypes==0.6.0 torch==2.13.0 jax==0.10.2 jaxlib==0.10.2 \
    onnx==1.23.2 onnxruntime==1.32.0 safetensors==0.8.0 mpmath==1.3.0
"$environment/bin/python" "$here/make.py" "$folder"
"$environment/bin/python" "$here/make_blocks.py" "$folder"
