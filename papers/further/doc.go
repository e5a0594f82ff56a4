// Package further asks which ideas, and which settings for the end of a run, beat the recipe of
// the preset zofl. The package compares them in the simulation of package ideas.
package further
