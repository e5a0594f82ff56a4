// Package contest compares methods that train the same model on the same data, at equal queries
// and at equal bytes.
//
// Most experiments describe the training in [Rules], and choose the step size of each [Method]
// with [Rules.Tune]. [Beats] is the claim that one entry beats another.
package contest
