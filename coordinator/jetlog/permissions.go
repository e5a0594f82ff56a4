package jetlog

import "github.com/zofl/zofl/internal/subjects"

// Subjects returns the subjects to which the log of a run publishes, for permissions of the broker.
// With dense, they include the subjects of its vectors. The log also answers flow control of the
// server (allow_responses), and subscribes only below its connection's inbox.
//
// $JS.API.> covers the whole account: if runs must not touch each other's logs, give them accounts
// of their own.
func Subjects(run string, dense bool) []string {
	list := []string{
		subjects.Log(run), subjects.Members(run), "$JS.API.>",
		"$KV." + leaseBucket(run) + ".>", "$KV." + epochBucket(run) + ".>",
	}
	if dense {
		list = append(list, "$O."+objectBucketOf(run)+".>")
	}
	return list
}

// Names of the buckets of a run.
func leaseBucket(run string) string    { return "ZO_" + run + "_LEASE" }
func epochBucket(run string) string    { return "ZO_" + run + "_EPOCH" }
func objectBucketOf(run string) string { return "ZO_" + run + "_OBJECTS" }
