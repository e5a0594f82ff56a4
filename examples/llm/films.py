"""The task: is a sentence about a film praise? "SENTENCE It was" goes on with " great" or with
" terrible", and the loss is the cross entropy of these two words."""

import numpy as np
import torch

import adapter

WORDS = (" terrible", " great")  # of the labels 0 and 1
AFTER = " It was"
TOGETHER = 4  # points whose states are in memory at once, where layers above the first have any


class Films:
    """Sentences and their labels, as what enters the lowest layer that is trained."""

    def __init__(self, model, layers, states, labels):
        self.model, self.layers = model, layers
        self.states, self.labels = states, torch.as_tensor(labels)
        self.words = torch.tensor([model.tokens.encode(word)[0] for word in WORDS])

    @classmethod
    def read(cls, model, layers, texts, labels):
        """Computes the layers below, once."""
        states = model.states([text + AFTER for text in texts], model.depth - layers)
        return cls(model, layers, states, labels)

    def some(self, chosen):
        return Films(self.model, self.layers, [self.states[i] for i in chosen], self.labels[chosen])

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

    def scores(self, x, states):
        lora = adapter.factors(x, self.model.depth - self.layers, self.model.depth)
        return self.model.scores(states, self.words, lora)

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
            chosen = draw.choice(shards[shard], batch[1], replace=False)
            states = [films.states[i] for i in chosen]
            loss = cross_entropy(films.scores(x, states), films.labels[chosen])
            (loss.sum() / batch[0]).backward()
        adam.step()
    return {name: w.detach().numpy() for name, w in x.items()}
