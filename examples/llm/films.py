"""The task: is a sentence about a film praise? "SENTENCE It was" goes on with " great" or with
" terrible", and the loss is the cross entropy of these two words."""

import numpy as np
import torch

import adapter
from last import Last

WORDS = (" terrible", " great")  # of the labels 0 and 1
AFTER = " It was"
TOGETHER = 4  # points whose states are in memory at once, where layers above the first have any


class Films:
    """Sentences, as what their reader takes of them, and their labels."""

    def __init__(self, reader, layers, states, labels):
        self.reader, self.layers = reader, layers
        self.states, self.labels = states, torch.as_tensor(labels)
        self.words = torch.tensor([reader.tokens.encode(word)[0] for word in WORDS])

    @classmethod
    def read(cls, model, layers, texts, labels):
        """Computes the layers below, once."""
        states = model.states([text + AFTER for text in texts], model.depth - layers)
        return cls.of(model, layers, states, labels)

    @classmethod
    def of(cls, model, layers, states, labels):
        """Of what enters the lowest layer that is trained."""
        if layers > 1:
            return cls(model, layers, states, labels)
        last = Last(model)
        return cls(last, layers, [last.keep(state) for state in states], labels)

    def some(self, chosen):
        states = [self.states[i] for i in chosen]
        return Films(self.reader, self.layers, states, self.labels[chosen])

    def __len__(self):
        return len(self.states)

    def losses(self, xs, batch):
        """The mean losses of the minibatch at some points, which are rows of the arrays in xs."""
        return self.at(xs, batch.choose(len(self)))

    def at(self, xs, chosen):
        states, labels = [self.states[i] for i in chosen], self.labels[chosen]
        points = len(next(iter(xs.values())))
        together = points if self.layers == 1 else TOGETHER
        found = []
        with torch.no_grad():
            for at in range(0, points, together):
                part = {name: x[at : at + together] for name, x in xs.items()}
                found += cross_entropy(self.scores(part, states), labels).tolist()
        return found

    def gradient(self, x, batch):
        """The mean loss of the minibatch at one point, and its gradient."""
        x = {name: torch.from_numpy(np.array(w)).requires_grad_() for name, w in x.items()}
        loss = self.backward(x, batch.choose(len(self)))
        return loss, {name: w.grad.numpy() for name, w in x.items()}

    def backward(self, x, chosen, share=1.0):
        """Adds a share of the gradient to that of the tensors in x, and returns the loss."""
        states, labels = [self.states[i] for i in chosen], self.labels[chosen]
        loss = cross_entropy(self.scores(x, states), labels).sum()
        (share * loss).backward()
        return loss.item()

    def scores(self, x, states):
        lora = adapter.factors(x, self.reader.depth - self.layers, self.reader.depth)
        return self.reader.scores(states, self.words, lora)

    @torch.no_grad()
    def judge(self, x, together=64):
        """The share of sentences that is right at x, and the mean loss."""
        right = loss = 0.0
        for at in range(0, len(self), together):
            labels = self.labels[at : at + together]
            scores = self.scores(x, self.states[at : at + together])
            right += (scores[0].argmax(-1) == labels).sum().item()
            loss += cross_entropy(scores, labels).item() * len(labels)
        return right / len(self), loss / len(self)


def cross_entropy(scores, labels):
    """The mean over sentences, at each point: scores [P, N, 2]."""
    chance = scores.log_softmax(-1)
    return -chance[:, torch.arange(len(labels)), labels].mean(-1)


def backpropagation(films, shards, x, steps, batch, rate, seed=1):
    """Adam on the mean loss of a minibatch of each shard, by gradients: what no device computes."""
    draw = np.random.default_rng(seed)
    x = {name: torch.from_numpy(np.array(w)).requires_grad_() for name, w in x.items()}
    adam = torch.optim.Adam(x.values(), lr=rate)
    for _ in range(steps):
        adam.zero_grad()
        for shard in draw.permutation(len(shards))[: batch[0]]:
            films.backward(x, draw.choice(shards[shard], batch[1], replace=False), 1 / batch[0])
        adam.step()
    return {name: w.detach().numpy() for name, w in x.items()}
