// Package losses asks how well a preset that finds its step trains on losses of many kinds, with
// nothing set but the model and the fleet, against the best of nine fixed steps: regressions,
// classifiers, controllers and small networks on drawn data.
//
// It tells what a change of the law of the step wins and loses. For most uses, run [Experiment].
package losses
