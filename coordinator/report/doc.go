// Package report defines the types with which a coordinator reports. A [Recorder] receives an
// [Event] for everything that happens to the run, a [Status] is a snapshot of the run, and a
// [Device] is a member.
package report
