// Package adafl asks which claims of the ZO-AdaFL paper hold about its attack on classifiers.
// Package attack has the classifiers, and the baselines that no device runs.
package adafl
