// Package runlog says what a log of a run is, and does what every log needs: it
// checks the chain of records, computes from them where a run stands, and copies one
// log to another. It knows neither rounds nor a network.
//
// A log implements [Log]. Runs with transport=dense need [Objects] too, and [Copy]
// needs [Epochs]. Packages filelog and jetlog are logs that survive the process, and
// [Memory] is one that does not. Package logtest tests any log.
package runlog
