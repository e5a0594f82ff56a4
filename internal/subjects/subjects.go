// Package subjects has the subjects of a run, on which its messages travel.
//
// Each device pays every byte of a subject in every round, so they are short: "zo", the run, one
// letter, and, where a permission must bind a device, its id.
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

// Announce is where the devices of a shard receive announcements.
func Announce(run string, shard uint32) string {
	return "zo." + run + ".a." + strconv.FormatUint(uint64(shard), 36)
}

// Reply is where a device sends its replies. The coordinator trusts the id in
// the subject, because the broker's permissions bind it; no payload has an id.
func Reply(run string, shard uint32, id string) string {
	return "zo." + run + ".p." + strconv.FormatUint(uint64(shard), 36) + "." + id
}

// AllShards is the wildcard for the subjects of a device's replies in all shards.
func AllShards(run, id string) string { return "zo." + run + ".p.*." + id }

// AllAnnouncements is the wildcard of the announcements to all shards.
func AllAnnouncements(run string) string { return "zo." + run + ".a.*" }

// Join is where a device asks for its slot and the plan.
func Join(run, id string) string { return "zo." + run + ".j." + id }

// CatchUp is where a device asks for records that it missed.
func CatchUp(run, id string) string { return "zo." + run + ".c." + id }

// Snapshot is where a device asks for pieces of a snapshot.
func Snapshot(run, id string) string { return "zo." + run + ".s." + id }

// Upload is where a device sends pieces of its vector.
func Upload(run, id string) string { return "zo." + run + ".u." + id }

// Object is where a device asks for pieces of a record's vector.
func Object(run, id string) string { return "zo." + run + ".d." + id }

// Step is where a device sends its part of a step of secure aggregation.
func Step(run, id string) string { return "zo." + run + ".k." + id }

// File is where a device asks for pieces of the file of the model that a run begins with.
func File(run, id string) string { return "zo." + run + ".f." + id }

// Log is where coordinators publish records to a log that they share. Only that
// log's stream subscribes there, and it may refuse a message.
func Log(run string) string { return "zo." + run + ".h" }

// Members is where coordinators publish new members to a log that they share.
// Only that log's stream subscribes there, and it may refuse a message.
func Members(run string) string { return "zo." + run + ".m" }

// History is where coordinators publish losses and metrics of rounds, in addition to the log that
// they share. Only that history's stream subscribes there.
func History(run string) string { return "zo." + run + ".t" }

// Lead is where coordinators with separate logs learn of each other.
func Lead(run string) string { return "zo." + run + ".l" }

// Operator is where an operator's program sends commands to a coordinator; only that program may
// publish there.
func Operator(run, verb string) string { return "zo." + run + ".o." + verb }

// AllSnapshots is the wildcard that a passive replica with snapshots subscribes to.
func AllSnapshots(run string) string { return "zo." + run + ".s.*" }

// Wildcards that a coordinator subscribes to.
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

// Inbox is the prefix of the subjects to which the answers to a device, or to another requester
// with an id, are sent. The broker's permissions let nobody else subscribe below it.
func Inbox(id string) string { return "_INBOX_" + id }

// Answerable reports whether an answer may be published to a subject that the sender of a
// request chose: not to a subject of a run, and not to one of the server.
func Answerable(subject string) bool {
	return subject != "" && !strings.HasPrefix(subject, "zo.") && !strings.HasPrefix(subject, "$")
}

// AnswersTo reports whether an answer to a device's request may be published to the subject that it
// names: below the device's own inbox, _INBOX_<id>, or NATS's default one, _INBOX. Every other part
// belongs to a sender without an id.
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
