// Package overture asks how many losses a run of few parameters spends until it has most of what
// there is to gain: with the preset zofl as it is, and with the overture of many parameters, which
// measures for five rounds before the first move.
//
// For most uses, run [Experiment].
package overture
