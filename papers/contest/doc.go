// Package contest compares methods that train the same model on the same data, at equal queries
// and at equal bytes.
//
// For most uses, say in [Rules] what is trained, and let each [Method] find its step with
// [Rules.Tune]. [Beats] claims what two of the entries show.
package contest
