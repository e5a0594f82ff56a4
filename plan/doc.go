// Package plan has the plan of a run: everything that its parties agree on before it starts.
//
// Start from a preset (package plan/preset) or a file (package plan/planfile), fill in the model,
// check the plan with package plan/plancheck, price it with package plan/cost, and hand it to a
// coordinator. A device receives it with its first record, and asks package plan/valid whether it
// can run.
//
// A [Plan] has sections, each of which has its fields in a struct of its own: a function that needs
// one section takes that, as a [*RobustFields]. [Fields] lists all fields with their numbers, names
// and limits.
package plan
