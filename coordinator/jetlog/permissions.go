package jetlog

import "github.com/zofl/zofl/internal/subjects"

// Subjects returns the subjects to which the log of a run publishes, for permissions of the broker.
// With dense, the list includes the subjects of the run's vectors. The log also answers the
// server's flow-control messages (allow_responses), and subscribes only to subjects below its
// connection's inbox.
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

// leaseBucket, epochBucket and objectBucketOf return the names of a run's buckets.
func leaseBucket(run string) string    { return "ZO_" + run + "_LEASE" }
func epochBucket(run string) string    { return "ZO_" + run + "_EPOCH" }
func objectBucketOf(run string) string { return "ZO_" + run + "_OBJECTS" }
