// Package contest compares methods that train the same model on the same data, at equal queries
// and at equal bytes.
//
// Most experiments describe the training in [Rules], and let each [Method] find its step with
// [Rules.Tune]. [Beats] is the claim that one entry beats another.
package contest
