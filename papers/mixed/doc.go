// Package mixed asks whether clients that only have losses and clients that have gradients train
// one model as well as either kind alone.
package mixed
