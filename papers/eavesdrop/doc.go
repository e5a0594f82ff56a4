// Package eavesdrop asks what the scalars of a run tell about the data of its devices, and what
// hides them. Package leak has the estimates that a spy makes.
package eavesdrop
