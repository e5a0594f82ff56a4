// Package subjects has the NATS subjects to which the programs of a run publish.
//
// Subjects are short, because every message of every round carries its subject. A subject consists
// of "zo", the run, one letter for the purpose, and sometimes the id of a device. The subject has
// the id if the broker's permissions must let only this device publish.
//
//	zo.<run>.a.<shard>        announcements, coordinator to devices
//	zo.<run>.p.<shard>.<id>   replies, device to coordinator
//	zo.<run>.j.<id>           join, request and reply
//	zo.<run>.c.<id>           catch-up, request and reply
//	zo.<run>.s.<id>           snapshots, request and reply
//	zo.<run>.u.<id>           pieces of a device's vector, request and reply
//	zo.<run>.d.<id>           pieces of a record's vector, request and reply
//	zo.<run>.k.<id>           steps of secure aggregation, request and reply
//	zo.<run>.f.<id>           pieces of the model's file, request and reply
//	zo.<run>.h                records for a shared log; no device reads it
//	zo.<run>.m                members for a shared log; no device reads it
//	zo.<run>.t                points of the history, for a shared log; no device reads it
//	zo.<run>.l                leads of coordinators, to each other; no device reads it
//	zo.<run>.o.<verb>         an operator's commands, request and reply
package subjects

import (
	"crypto/sha256"
	"strconv"
	"strings"
)

// Announce returns the subject on which the devices of a shard receive announcements.
func Announce(run string, shard uint32) string {
	return "zo." + run + ".a." + strconv.FormatUint(uint64(shard), 36)
}

// Reply returns the subject to which a device publishes its replies. The coordinator trusts the id
// in the subject, because the broker lets only the device with that id publish there. No payload
// has an id.
func Reply(run string, shard uint32, id string) string {
	return "zo." + run + ".p." + strconv.FormatUint(uint64(shard), 36) + "." + id
}

// AllShards is the wildcard for the subjects of a device's replies in all shards.
func AllShards(run, id string) string { return "zo." + run + ".p.*." + id }

// AllAnnouncements is the wildcard of the announcements to all shards.
func AllAnnouncements(run string) string { return "zo." + run + ".a.*" }

// Join returns the subject on which a device asks for its slot and the plan.
func Join(run, id string) string { return "zo." + run + ".j." + id }

// CatchUp returns the subject on which a device asks for records that it missed.
func CatchUp(run, id string) string { return "zo." + run + ".c." + id }

// Snapshot returns the subject on which a device asks for pieces of a snapshot.
func Snapshot(run, id string) string { return "zo." + run + ".s." + id }

// Upload returns the subject to which a device sends pieces of its vector.
func Upload(run, id string) string { return "zo." + run + ".u." + id }

// Object returns the subject on which a device asks for pieces of a record's vector.
func Object(run, id string) string { return "zo." + run + ".d." + id }

// Step returns the subject to which a device sends its part of a step of secure aggregation.
func Step(run, id string) string { return "zo." + run + ".k." + id }

// File returns the subject on which a device asks for pieces of the file of the run's first model.
func File(run, id string) string { return "zo." + run + ".f." + id }

// Log returns the subject to which coordinators publish records of a log that they share. Only the
// log's stream in JetStream subscribes to it, and the stream may refuse a message.
func Log(run string) string { return "zo." + run + ".h" }

// Members returns the subject to which coordinators publish new members of a log that they share.
// Only the log's stream of members subscribes to it, and the stream may refuse a message.
func Members(run string) string { return "zo." + run + ".m" }

// History returns the subject to which coordinators that share a log also publish losses and
// metrics of rounds. Only the history's stream subscribes to it.
func History(run string) string { return "zo." + run + ".t" }

// Lead returns the subject on which coordinators with separate logs learn of each other.
func Lead(run string) string { return "zo." + run + ".l" }

// Operator returns the subject to which an operator's program sends commands to a coordinator. Only
// that program may publish to it.
func Operator(run, verb string) string { return "zo." + run + ".o." + verb }

// AllSnapshots is the wildcard to which a passive replica that serves snapshots subscribes.
func AllSnapshots(run string) string { return "zo." + run + ".s.*" }

// These functions return the wildcards to which a coordinator subscribes.
func AllReplies(run string) string  { return "zo." + run + ".p.*.*" }
func AllJoins(run string) string    { return "zo." + run + ".j.*" }
func AllCatchUps(run string) string { return "zo." + run + ".c.*" }
func AllUploads(run string) string  { return "zo." + run + ".u.*" }
func AllObjects(run string) string  { return "zo." + run + ".d.*" }
func AllSteps(run string) string    { return "zo." + run + ".k.*" }
func AllFiles(run string) string    { return "zo." + run + ".f.*" }

// ID returns the last token of a subject: the id of the device that the broker
// allowed to publish there.
func ID(subject string) string {
	return subject[strings.LastIndexByte(subject, '.')+1:]
}

// Inbox is the prefix of the subjects on which a device, or another requester with an id, receives
// answers. The broker's permissions let nobody else subscribe to subjects with this prefix.
func Inbox(id string) string { return "_INBOX_" + id }

// Answerable reports whether a program may publish an answer to the subject that a requester chose.
// The subject must not be one of a run or of the NATS server.
func Answerable(subject string) bool {
	return subject != "" && !strings.HasPrefix(subject, "zo.") && !strings.HasPrefix(subject, "$")
}

// AnswersTo reports whether the coordinator may answer a device's request on the reply subject that
// the request names. The subject must be below the device's own inbox, _INBOX_<id>, or below NATS's
// default inbox, _INBOX.
func AnswersTo(id, subject string) bool {
	prefix, name, below := strings.Cut(subject, ".")
	return below && name != "" && (prefix == "_INBOX" || prefix == "_INBOX_"+id)
}

// Shard returns the shard of a device: the first four bytes, little-endian, of
// SHA-256("zofl/1 shard\x00" + id), modulo shards.
func Shard(id string, shards uint32) uint32 {
	if shards <= 1 {
		return 0
	}
	h := sha256.Sum256([]byte("zofl/1 shard\x00" + id))
	return (uint32(h[0]) | uint32(h[1])<<8 | uint32(h[2])<<16 | uint32(h[3])<<24) % shards
}
