// Package losses asks how well a preset that finds its step size trains on losses of many kinds:
// regressions, classifiers, controllers and small networks on generated data. The package sets
// only the model and the fleet, and compares the preset with the best of nine fixed step sizes.
//
// The results show on which losses a change of the rule for the step size helps or harms. For
// most uses, run [Experiment].
package losses
