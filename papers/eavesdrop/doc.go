// Package eavesdrop measures what the scalars of a run reveal about the data of its devices, and
// what hides the data. Package leak has the estimates that a spy makes.
package eavesdrop
