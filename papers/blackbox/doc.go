// Package blackbox has the problems of FZooS's experiments (appendix G): functions of which
// N clients can only evaluate values, whose mean F is to be minimized over a box.
//
// For most uses, make one of the three, each a [Problem], and hand [Problem.Local] to
// the clients:
//
//   - [Quadratic], equation (98): its minimum and all gradients are known;
//   - a [Target] of an [Attack] on CNNs: 784 pixels of an image of MNIST;
//   - [Metric]: the 2,189 parameters of an MLP on Covertype, for precision, recall, F1
//     or Jaccard index, which have no gradient.
//
// A function takes x in the units of [Problem.Box]. Outside the box it has the value of the
// nearest point inside, as in the paper's code: a finite difference may look beyond the
// border but gains nothing there. The paper's method sees the box as [0, 1], so its step of
// 0.01 is a hundredth of the box's side.
//
// # The attack
//
// The paper trains each model on P*10 random classes, and attacks images that all ten
// models classify correctly. A model is never right on a class that it has not seen, and
// with P = 0.7 a class is in all ten draws with a probability of 0.7^10 = 2.8 %. So this
// package repeats the draw until some class is in all of them: the paper's draw,
// conditioned on the experiment being possible. The images belong to these classes. The
// paper's code instead takes images whose mean margin over the models is positive, even if
// several are wrong; [AttackConfig.OnAverage] does so.
//
// The perturbation starts at 0. In the paper's code it starts at the lower corner of the
// box, with 0.3 less ink everywhere.
//
// The paper's CNN has two convolutions and two dense layers; in its code these have 1.2
// million parameters, and a loss takes milliseconds. The CNN here has as many layers and a
// 45th of the parameters: see [models.NewCNNTwoDense].
//
// # The metrics
//
// The paper specifies neither how a metric combines the classes nor the box. Both follow
// its code here: scikit-learn's macro average, which is the mean over all classes in the
// rows or the answers, an undefined term being 0; and a box of +-0.2 for features of mean 0
// and variance 1. The MLP is trained on half of the table. Each client has rows of the
// other half that belong to its P*7 classes: see [MetricConfig.Rows].
//
// # Determinism
//
// A problem depends only on its config, its data and, in the last bits, the architecture,
// because training uses math.Exp. Trained models are cached.
package blackbox
