package outbox

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/wire"
)

// FuzzReplyFile: a loaded reply is a contribution with the frame's record.
func FuzzReplyFile(f *testing.F) {
	r := wire.Reply{Kind: wire.Contribution, N: 7, Weight: 1, Values: wire.Scalars{0, 0, 0, 1}}
	content := append(make([]byte, replyHead), r.Append(nil)...)
	f.Add(content)
	f.Add(content[:replyHead+3])
	r.Kind = wire.Decline
	f.Add(append(make([]byte, replyHead), r.Append(nil)...))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := parseReply(content)
		if err != nil {
			return
		}
		frame, err := wire.DecodeReply(got.frame)
		if err != nil || frame.Kind != wire.Contribution || frame.N != got.n || frame.Tip != got.tip {
			t.Errorf("%+v of frame %+v, %v", got, frame, err)
		}
	})
}

// FuzzUploadHead: the outbox reads the head of an upload file without a panic, and the result
// agrees with the frame. The fuzzer need not make a checksum.
func FuzzUploadHead(f *testing.F) {
	o := New(Config{Files: files.New(files.Config{Run: "r", ID: "d"})})
	own := o.cfg.Files.Head(uploadMagic)
	u := wire.Upload{N: 3, Weight: 1, Size: 8}
	frame := u.Append(nil)
	head := make([]byte, uploadHead)
	binary.LittleEndian.PutUint32(head[8:], uint32(len(frame)))
	f.Add(append(head, frame...))
	f.Add(head)
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, rest []byte) {
		b := append(own[:len(own):len(own)], rest...)
		sum := sha256.Sum256(b)
		got, read, fault := o.parseUploadHead(append(b, sum[:]...))
		if fault == "" && (read > len(b)+len(sum) || got.n != got.head.N || got.head.Data != nil) {
			t.Errorf("%x: read %d of %d, %+v", b, read, len(b), got)
		}
	})
}
