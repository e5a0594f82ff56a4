// Package paper holds the experiments of the papers as programs: each trains, or
// measures, what a paper did, by the production code, and says of each of its claims
// whether it holds here and with which figures. Cmd paper runs them.
//
// For most uses, take an experiment from [All] and call its Run.
//
// # Adding one
//
// An experiment is a function of an [Env] that returns a [Report]; list it in [All].
// One that trains makes a [Training] for each curve and hands them to [Env.Train],
// which runs every seed, keeps logs under Env.Dir and tells progress. Its claims are
// functions of the curves: the figures they compare stand in Go tables with their
// source. What a client can do besides classify is a run.Task of its own.
//
// A claim that does not hold is a finding, not a fault: the report says so, and why
// as far as known, and the program succeeds.
package paper
