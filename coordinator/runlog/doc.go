// Package runlog defines a log of a run, and the functions that every log needs: it checks the
// chain of records, computes the position of a run from its records, and copies one log to another.
// It does not know rounds or a network.
//
// A log implements [Log]. Runs with transport=dense also need [Objects], and [Copy] needs [Epochs].
// The logs of packages filelog and jetlog survive the process; [Memory] does not. Package logtest
// tests any log.
package runlog
