package wire

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
)

// Subjects. Each device pays every byte of a subject in every round, so they are
// short: "zo", the run, one letter, and, where a permission must bind a device, its id.
//
//	zo.<run>.a.<shard>        announcements, coordinator to devices
//	zo.<run>.p.<shard>.<id>   replies, device to coordinator
//	zo.<run>.j.<id>           join, request and reply
//	zo.<run>.c.<id>           catch-up, request and reply
//	zo.<run>.s.<id>           snapshots, request and reply
//	zo.<run>.u.<id>           pieces of a device's vector, request and reply
//	zo.<run>.d.<id>           pieces of a record's vector, request and reply
//	zo.<run>.h                records for a shared log; no device reads it
//	zo.<run>.m                members for a shared log; no device reads it
//	zo.<run>.o.<verb>         an operator's commands, request and reply

// AnnounceSubject is where the devices of a shard receive announcements.
func AnnounceSubject(run string, shard uint32) string {
	return "zo." + run + ".a." + strconv.FormatUint(uint64(shard), 36)
}

// ReplySubject is where a device sends its replies. The coordinator trusts the id in
// the subject, because the broker's permissions bind it; no payload has an id.
func ReplySubject(run string, shard uint32, id string) string {
	return "zo." + run + ".p." + strconv.FormatUint(uint64(shard), 36) + "." + id
}

// JoinSubject is where a device asks for its slot and the plan.
func JoinSubject(run, id string) string { return "zo." + run + ".j." + id }

// CatchUpSubject is where a device asks for records that it missed.
func CatchUpSubject(run, id string) string { return "zo." + run + ".c." + id }

// SnapshotSubject is where a device asks for pieces of a snapshot.
func SnapshotSubject(run, id string) string { return "zo." + run + ".s." + id }

// UploadSubject is where a device sends pieces of its vector.
func UploadSubject(run, id string) string { return "zo." + run + ".u." + id }

// ObjectSubject is where a device asks for pieces of a record's vector.
func ObjectSubject(run, id string) string { return "zo." + run + ".d." + id }

// LogSubject is where coordinators publish records to a log that they share. Only that
// log's stream subscribes there, and it may refuse a message.
func LogSubject(run string) string { return "zo." + run + ".h" }

// MembersSubject is where coordinators publish new members to a log that they share.
// Only that log's stream subscribes there, and it may refuse a message.
func MembersSubject(run string) string { return "zo." + run + ".m" }

// OperatorSubject is where an operator's program sends commands to a coordinator;
// nobody else may publish there.
func OperatorSubject(run, verb string) string { return "zo." + run + ".o." + verb }

// AllSnapshots is the wildcard that a passive replica with snapshots subscribes to.
func AllSnapshots(run string) string { return "zo." + run + ".s.*" }

// Wildcards that a coordinator subscribes to.
func AllReplies(run string) string  { return "zo." + run + ".p.*.*" }
func AllJoins(run string) string    { return "zo." + run + ".j.*" }
func AllCatchUps(run string) string { return "zo." + run + ".c.*" }
func AllUploads(run string) string  { return "zo." + run + ".u.*" }
func AllObjects(run string) string  { return "zo." + run + ".d.*" }

// SubjectID returns the last token of a subject: the id of the device that the broker
// allowed to publish there.
func SubjectID(subject string) string {
	return subject[strings.LastIndexByte(subject, '.')+1:]
}

// Answerable reports whether an answer may be published to a subject that the sender of a
// request chose: not to a subject of a run, and not to one of the server.
func Answerable(subject string) bool {
	return subject != "" && !strings.HasPrefix(subject, "zo.") && !strings.HasPrefix(subject, "$")
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

// CheckName returns nil if s can name a run, a device, a segment or a metric: it must
// have 1 to MaxName characters of A-Z, a-z, 0-9, '-' and '_', and so be one token of a
// subject.
func CheckName(s string) error {
	if len(s) == 0 || len(s) > MaxName {
		return fmt.Errorf("%q has %d characters, not 1..%d", s, len(s), MaxName)
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '-' || c == '_') {
			return fmt.Errorf("%q: character %q is not one of A-Z a-z 0-9 - _", s, c)
		}
	}
	return nil
}
