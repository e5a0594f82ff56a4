// Package plan has the plan of a run: everything that devices and coordinator agree on before the
// run starts.
//
// Start from a preset (package plan/preset) or a file (package plan/planfile), and fill in the
// model. Check the plan with package plan/plancheck, compute its cost with package plan/cost, and
// give the plan to a coordinator. A device receives the plan as record 1 of the log, and asks
// package plan/valid whether the plan can run.
//
// A [Plan] has sections, each a struct with its own fields. A function that needs one section takes
// only that section, such as a [*RobustFields]. [Fields] lists all fields with their numbers, names
// and limits.
package plan
