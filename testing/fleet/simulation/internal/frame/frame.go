// Package frame tells the kinds of the messages of a simulated run apart, and describes them.
package frame

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// Kind is the kind of a message.
type Kind int

// The kinds of messages. The kind of an answer is named by what the answer does.
const (
	Other Kind = iota
	Announcing
	Replying
	Joining
	Asking // requests records
	Welcoming
	Telling // sends records
	Fetching
	Handing   // sends a piece of a snapshot
	Uploading // sends a piece of a device's vector
	Taking    // answers uploading
	Wanting   // requests a piece of a record's vector
	Bringing  // sends a piece of a record's vector
	Masking   // takes a step of secure aggregation
)

// Of returns the kind of a message on a subject, or of an answer to that message, and the device
// that the message concerns.
func Of(subject string, answer bool) (Kind, string) {
	tokens := strings.Split(subject, ".")
	if len(tokens) < 3 || tokens[0] != "zo" {
		return Other, ""
	}
	kinds := map[string][2]Kind{
		"a": {Announcing, Other}, "p": {Replying, Other}, "j": {Joining, Welcoming},
		"c": {Asking, Telling}, "s": {Fetching, Handing},
		"u": {Uploading, Taking}, "d": {Wanting, Bringing}, "k": {Masking, Other},
	}
	pair := kinds[tokens[2]]
	if answer {
		return pair[1], subjects.ID(subject)
	}
	return pair[0], subjects.ID(subject)
}

// Describe describes a frame of a kind for transcripts.
func Describe(kind Kind, data []byte) string {
	switch kind {
	case Announcing:
		if a, err := compact.Decode(data); err == nil {
			if a.Compact() {
				return "lean " + describeAnnouncement(&a.Announcement)
			}
			return describeAnnouncement(&a.Announcement)
		}
	case Replying:
		if r, err := wire.DecodeReply(data); err == nil {
			return fmt.Sprintf("%v n=%d tip=%.6s weight=%d loss=%v %v %x",
				r.Kind, r.N, r.Tip, r.Weight, r.Loss, floats(r.Values), r.Digest)
		}
	case Welcoming:
		if r, err := wire.DecodeJoinReply(data); err == nil {
			text := fmt.Sprintf("welcome %v slot=%d last=%d", r.Status, r.Slot, r.Last)
			if a, err := wire.DecodeAnnouncement(r.Announcement); err == nil {
				text += " " + describeAnnouncement(&a)
			}
			return text
		}
	case Asking:
		if r, err := wire.DecodeCatchUpRequest(data); err == nil {
			return fmt.Sprintf("records from %d", r.From)
		}
	case Telling:
		if r, err := wire.DecodeCatchUpReply(data); err == nil {
			return fmt.Sprintf("%d records from %d, last=%d", r.Records.Len(), r.From, r.Last)
		}
	default:
		return describeVector(kind, data)
	}
	return fmt.Sprintf("%d bytes", len(data))
}

// describeVector describes a frame about a vector.
func describeVector(kind Kind, data []byte) string {
	switch kind {
	case Uploading:
		if u, err := wire.DecodeUpload(data); err == nil {
			return fmt.Sprintf("upload n=%d tip=%.6s weight=%d loss=%v digest=%x bytes %d+%d of %d",
				u.N, u.Tip, u.Weight, u.Loss, u.Digest[:4], u.Offset, len(u.Data), u.Size)
		}
	case Taking:
		if r, err := wire.DecodeUploadReply(data); err == nil {
			return fmt.Sprintf("upload %v n=%d offset=%d wait=%d", r.State, r.N, r.Offset, r.Wait)
		}
	case Wanting:
		if r, err := wire.DecodeObjectRequest(data); err == nil {
			return fmt.Sprintf("vector %x from byte %d", r.Digest[:4], r.Offset)
		}
	case Bringing:
		if r, err := wire.DecodeObjectReply(data); err == nil {
			return fmt.Sprintf("vector's bytes %d+%d of %d", r.Offset, len(r.Data), r.Size)
		}
	}
	return fmt.Sprintf("%d bytes", len(data))
}

func describeAnnouncement(a *wire.Announcement) string {
	text := fmt.Sprintf("announce %v n=%d attempt=%d epoch=%d left=%d cohort=%d/%d records=%d",
		a.State, a.N, a.Attempt, a.Epoch, a.Left, a.Cohort.Sampled, a.Cohort.Members, a.Records.Len())
	if a.Reason != "" {
		text += fmt.Sprintf(" %q", a.Reason)
	}
	if r, ok := a.Reference(); ok {
		text += fmt.Sprintf(" reference=%d:%x", r.N, r.Digest)
	}
	return text
}

func floats(s wire.Scalars) []float32 {
	values := make([]float32, s.Len())
	for i := range values {
		values[i] = s.At(i)
	}
	return values
}
