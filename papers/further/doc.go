// Package further asks which ideas beat the recipe of the preset zofl, and which ends of a run.
// It screens them in the simulation of package ideas.
package further
