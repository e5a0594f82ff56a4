// Package papers has the experiments of the papers as programs. Each experiment repeats a
// training or a measurement of a paper with the production code. For each of the paper's claims,
// it says whether the claim holds here and with which figures. Cmd paper runs them.
//
// For most uses, take an experiment from [All] and call its Run.
//
// # Adding one
//
// An experiment is a function that fills the report of a lab.Trial, in its own package or that of
// its paper; list it in [All]. Its claims are functions of the curves; the figures that they
// compare with are in Go tables, with their source. A client that does something other than
// classification needs its own run.Task.
//
// A claim that does not hold is a finding, not a failure: the report says so, and why as
// far as known, and the program succeeds.
package papers
