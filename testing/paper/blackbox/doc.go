// Package blackbox holds the problems of FZooS's experiments (appendix G): functions
// that N clients can only ask for values, whose mean F is to be minimized over a box.
//
// For most uses, make one of the three, each a [Problem], and hand [Problem.Local] to
// the clients:
//
//   - [Quadratic], equation (98): its minimum and all gradients are known;
//   - a [Target] of an [Attack] on CNNs: 784 pixels of an image of MNIST;
//   - [Metric]: the 2,189 parameters of an MLP on Covertype, for precision, recall, F1
//     or Jaccard index, which have no gradient.
//
// A function takes x in the units of [Problem.Box], and has outside of the box the value
// of the nearest point within, as in the paper's code: a finite difference may look
// beyond the border, which gains it nothing. The paper's method sees the box as [0, 1]:
// its step of 0.01 is a hundredth of the box's side.
//
// # The attack
//
// The paper trains each model on P*10 random classes, and attacks images that all ten
// models classify right. A model is never right on a class that it has not seen, and
// with P = 0.7 a class is in all ten draws with a chance of 0.7^10 = 2.8 %. So the
// draw is repeated until some class is in all of them: the paper's draw, under the
// condition that its experiment is possible; images are of that class, or these. The
// paper's code does without: it takes images whose mean margin over the models is
// positive, though several be wrong. [AttackConfig.OnAverage] does so.
//
// The perturbation starts at 0. In the paper's code it starts where the box does, with
// 0.3 less ink everywhere.
//
// The paper's CNN has two convolutions and two dense layers; its code's 1.2 million
// parameters, of which a loss takes milliseconds. The one here has as many layers and
// a 45th of the parameters: see [models.NewCNNTwoDense].
//
// # The metrics
//
// The paper says neither how a metric joins the classes, nor the box. Here both are as
// in its code: scikit-learn's macro average, the mean over all classes that the rows
// or the answers have, where an undefined term is 0; and a box of +-0.2 for features
// of mean 0 and variance 1. Half of the table trains the MLP. Each client has some of the
// rows of the other half that are of its P*7 classes: see [MetricConfig.Rows].
//
// # Determinism
//
// A problem is a function of its config, its data and, in the last bits, the
// architecture: training uses math.Exp. Trained models are kept in a cache.
package blackbox
