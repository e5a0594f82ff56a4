// Package report has the types in which a coordinator reports: a [Recorder] receives an [Event] for
// whatever happens to the run, a [Status] is a snapshot of the run, and a [Device] is a member.
package report
