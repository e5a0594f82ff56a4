// Package mixed tests whether clients with losses only and clients with gradients together train
// one model as well as either kind alone.
package mixed
