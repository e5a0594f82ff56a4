// Package plainrun has the runs that the gates examine. For each preset three devices train in
// memory without faults, and a cover profile shows which statements the run executed.
//
// A feature that a run does not use executes no statement in that run:
//
//   - testdata/foreign.txt has for each preset the packages of features that the preset's plan
//     lacks. None of their statements may run.
//   - testdata/path.txt names the functions that each round of the preset decomfl enters, for an
//     announcement, a reply, a record and the record's replay. The list may only shrink.
//   - testdata/size.txt counts the statements and files of that run, by part. The counts may only
//     fall.
//
// go test -run Gates -update writes the files. Read the difference before you commit it: every run
// executes what a file gains.
package plainrun
