// Package plainrun has the runs that the gates examine: for each preset three devices train in
// memory without faults, and a cover profile shows which statements that took.
//
// A feature that a run does not use costs it no statement:
//
//   - testdata/foreign.txt has for each preset the packages of features that its plan lacks. None
//     of their statements may run.
//   - testdata/path.txt names the functions that each round of the preset decomfl enters: on the
//     way of an announcement, a reply, a record and its replay. It only shrinks.
//   - testdata/size.txt counts the statements and files of that run, by part. They only fall.
//
// go test -run Gates -update writes the files. Read the difference: every run pays from now on for
// what a file gains.
package plainrun
