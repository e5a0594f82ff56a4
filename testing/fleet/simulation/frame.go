package simulation

import (
	"fmt"

	"github.com/zofl/zofl/wire"
)

// describeVector describes a frame about a vector.
func describeVector(kind frameKind, data []byte) string {
	switch kind {
	case uploading:
		if u, err := wire.DecodeUpload(data); err == nil {
			return fmt.Sprintf("upload n=%d tip=%.6s weight=%d loss=%v digest=%x bytes %d+%d of %d",
				u.N, u.Tip, u.Weight, u.Loss, u.Digest[:4], u.Offset, len(u.Data), u.Size)
		}
	case taking:
		if r, err := wire.DecodeUploadReply(data); err == nil {
			return fmt.Sprintf("upload %v n=%d offset=%d wait=%d", r.State, r.N, r.Offset, r.Wait)
		}
	case wanting:
		if r, err := wire.DecodeObjectRequest(data); err == nil {
			return fmt.Sprintf("vector %x from byte %d", r.Digest[:4], r.Offset)
		}
	case bringing:
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

// frameKind is the kind of a message.
type frameKind int

const (
	other frameKind = iota
	announcing
	replying
	joining
	asking // requests records
	welcoming
	telling // sends records
	fetching
	handing   // sends a piece of a snapshot
	uploading // sends a piece of a device's vector
	taking    // answers uploading
	wanting   // requests a piece of a record's vector
	bringing  // sends a piece of a record's vector
)
