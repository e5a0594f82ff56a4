// Package blackbox has the problems of FZooS's experiments (appendix G). In each problem, every
// one of N clients has a function that it can evaluate but not differentiate, and the clients
// minimize the mean F of these functions over a box.
//
// For most uses, make one of the three problems, each a [Problem], and give [Problem.Local] to
// the clients:
//
//   - [Quadratic], equation (98): its minimum and all gradients are known;
//   - a [Target] of an [Attack] on CNNs: 784 pixels of an image of MNIST;
//   - [Metric]: the 2,189 parameters of an MLP on Covertype, for precision, recall, F1
//     or Jaccard index, which have no gradient.
//
// A function takes x in the units of [Problem.Box]. Outside the box, the function has the value
// of the nearest point inside, as in the paper's code: a finite difference may evaluate a point
// outside the box, but finds no smaller value there than in the box. The paper's method scales
// the box to [0, 1], so the paper's step size 0.01 is a hundredth of the box's side.
//
// # The attack
//
// The paper trains each model on P*10 random classes, and attacks images that all ten models
// classify correctly. A model never classifies an image correctly if the image's class was not in
// the model's training set. With P = 0.7, the ten draws all contain a given class with a
// probability of 0.7^10 = 2.8 %. So this package repeats the ten draws until all of them contain
// some class: this is the paper's draw under the condition that the experiment is possible. The
// attacked images belong to the classes that all draws contain. The paper's code instead takes
// images whose mean margin over the models is positive, even if several models misclassify them;
// [AttackConfig.OnAverage] makes this package do the same.
//
// The perturbation starts at 0. In the paper's code the perturbation starts at the lower corner
// of the box, which removes 0.3 of ink from each pixel.
//
// The paper's CNN has two convolutions and two dense layers. In the paper's code these layers
// have 1.2 million parameters, and a loss takes milliseconds. The CNN here has as many layers and
// 1/45 of the parameters: see [models.NewCNNTwoDense].
//
// # The metrics
//
// The paper does not say how a metric combines the classes, nor which box the parameters have.
// Here both follow the paper's code. The metric is scikit-learn's macro average: the mean over
// all classes that any row has or the MLP assigns, where an undefined term counts as 0. The box
// is +-0.2, for features of mean 0 and variance 1. The MLP is trained on half of the table. Each
// client has rows of the other half that belong to its P*7 classes: see [MetricConfig.Rows].
//
// # Determinism
//
// A problem depends only on its config, its data and, in the last bits, the architecture,
// because training uses math.Exp. Trained models are cached.
package blackbox
