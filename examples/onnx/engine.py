"""The model as a device has it: an engine that gives logits, and no gradient."""

import os

import numpy as np
import onnxruntime


class Model:
    """The model and the pictures of one camera."""

    def __init__(self, directory, camera):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            os.path.join(directory, "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.dim = self._session.get_inputs()[1].shape[1]
        self.labels = np.fromfile(os.path.join(directory, camera + ".labels"), np.uint8)
        images = np.fromfile(os.path.join(directory, camera + ".images"), np.uint8)
        self.images = images.reshape(len(self.labels), -1)

    def logits(self, points, some):
        """Of some of the pictures, at each of the points: [Q, N, 10]."""
        return self._session.run(None, {"images": self.images[some], "adapters": points})[0]

    def losses(self, points, some=slice(None)):
        """The mean cross-entropy at each of the points."""
        z = self.logits(points, some).astype(np.float64)
        z -= z.max(2, keepdims=True)
        picked = np.take_along_axis(z, self.labels[some][None, :, None], 2)[..., 0]
        return (np.log(np.exp(z).sum(2)) - picked).mean(1)

    def accuracy(self, point):
        return float((self.logits(point[None], slice(None))[0].argmax(1) == self.labels).mean())
