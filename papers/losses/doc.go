// Package losses asks how well a preset that finds its step trains on losses of many kinds, with
// nothing set but the model and the fleet, against the best of nine fixed steps: regressions,
// classifiers, controllers and small networks on drawn data.
//
// It shows how much a change of the step law wins and loses. For most uses, run [Experiment].
package losses
