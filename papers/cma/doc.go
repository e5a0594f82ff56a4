// Package cma measures runs of the preset cma: how many evaluations they take on losses that
// optimizers are compared on, what fleets of unlike devices lose, and what the rule for noise
// gives.
package cma
