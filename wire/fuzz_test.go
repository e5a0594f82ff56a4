package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zofl/zofl/wire"
)

// fuzz checks that a decoder does not panic, that its error is a *DecodeError, and that a frame
// that it accepts encodes to the same bytes. The seeds are the vectors of every frame.
func fuzz(f *testing.F, frame string) {
	for _, v := range loadVectors(f) {
		f.Add(v.Bytes)
	}
	decode := frames[frame]
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decode(b)
		var fault *wire.DecodeError
		switch {
		case err != nil && !errors.As(err, &fault):
			t.Errorf("%x: got error of type %T", b, err)
		case err == nil && !bytes.Equal(got, b):
			t.Errorf("re-encoded\ngot  %x\nwant %x", got, b)
		}
	})
}

func FuzzRecord(f *testing.F)          { fuzz(f, "record") }
func FuzzAnnouncement(f *testing.F)    { fuzz(f, "announcement") }
func FuzzReply(f *testing.F)           { fuzz(f, "reply") }
func FuzzJoinRequest(f *testing.F)     { fuzz(f, "join-request") }
func FuzzJoinReply(f *testing.F)       { fuzz(f, "join-reply") }
func FuzzCatchUpRequest(f *testing.F)  { fuzz(f, "catch-up-request") }
func FuzzCatchUpReply(f *testing.F)    { fuzz(f, "catch-up-reply") }
func FuzzSnapshotRequest(f *testing.F) { fuzz(f, "snapshot-request") }
func FuzzSnapshotReply(f *testing.F)   { fuzz(f, "snapshot-reply") }
func FuzzUpload(f *testing.F)          { fuzz(f, "upload") }
func FuzzUploadReply(f *testing.F)     { fuzz(f, "upload-reply") }
func FuzzObjectRequest(f *testing.F)   { fuzz(f, "object-request") }
func FuzzObjectReply(f *testing.F)     { fuzz(f, "object-reply") }
func FuzzLead(f *testing.F)            { fuzz(f, "lead") }

// FuzzControl: a decoded control variate encodes to the beginning of Rest, and its record
// is before the reply's.
func FuzzControl(f *testing.F) {
	for _, b := range vectorsOf(f, "reply", "ok") {
		r, err := wire.DecodeReply(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(r.N, r.Rest)
	}
	f.Fuzz(func(t *testing.T, n uint64, rest []byte) {
		r := wire.Reply{Kind: wire.Contribution, N: n, Rest: rest}
		v, ok := r.Control()
		if ok && (v.N == 0 || v.N >= n || !bytes.HasPrefix(rest, v.Append(nil))) {
			t.Errorf("rest %x of a reply to %d is read as %+v", rest, n, v)
		}
	})
}
