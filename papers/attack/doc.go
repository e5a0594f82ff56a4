// Package attack implements the black-box attack of FedZO and ZO-AdaFL: a single
// perturbation that makes a classifier take all images of a class for another class. It
// contains the classifier and the papers' two baselines that do not use shared seeds,
// [DZOPA] and [ZONES].
//
// For most uses, train a [Net], make a [Target] from it and the images to attack, and
// minimize Target.Loss, a function of one number for each pixel.
//
// # Determinism
//
// A loss depends only on its arguments. So does a step of the baselines: its directions and
// minibatches are drawn from seed, round and client, whatever the order in which the
// clients are computed.
package attack
