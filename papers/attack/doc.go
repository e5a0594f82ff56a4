// Package attack implements the black-box attack of FedZO and ZO-AdaFL: a single perturbation
// that makes a classifier misclassify all images of a class. The package contains the classifier
// and the papers' two baselines that do not use shared seeds, [DZOPA] and [ZONES].
//
// For most uses, train a [Net], make a [Target] from it and the images to attack, and
// minimize Target.Loss, a function of one number for each pixel.
//
// # Determinism
//
// A loss depends only on its arguments. A step of a baseline also depends only on its arguments:
// the baseline draws directions and minibatches from seed, round and client, so that the order in
// which it computes the clients does not matter.
package attack
