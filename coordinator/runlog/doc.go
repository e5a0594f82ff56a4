// Package runlog defines the interface of a run's log, and functions for all logs. The functions
// check the chain of records, compute the position of a run from its records, and copy one log to
// another. The package neither coordinates rounds nor uses a network.
//
// A log implements [Log]. Runs with transport=dense also need [Objects], and [Copy] needs [Epochs].
// The logs of packages filelog and jetlog survive the process; [Memory] does not. Package logtest
// tests any log.
package runlog
