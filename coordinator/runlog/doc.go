// Package runlog defines a log of a run, and does what every log needs: it checks the chain of
// records, computes from the records where a run stands, and copies one log to another. It knows
// nothing of rounds or a network.
//
// A log implements [Log]. Runs with transport=dense also need [Objects], and [Copy] needs [Epochs].
// The logs of packages filelog and jetlog survive the process; [Memory] does not. Package logtest
// tests any log.
package runlog
