// Package attack holds the black-box attack of FedZO and ZO-AdaFL: one
// perturbation that makes a classifier take all images of a class for another, the
// classifier, and the two baselines of the papers that train nothing by seeds,
// [DZOPA] and [ZONES].
//
// For most uses, train a [Net], make a [Target] of it and the images to attack, and
// minimize Target.Loss, a function of one number for each pixel.
//
// # Determinism
//
// A loss depends on its arguments only. So does a step of the baselines: its
// directions and minibatches are drawn from seed, round and client, in whatever
// order the clients are computed.
package attack
