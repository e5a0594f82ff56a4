// Package eavesdrop measures how much the scalars of a run reveal about the data of its devices,
// and which settings hide the data. Package leak has the estimates that an attacker makes.
package eavesdrop
