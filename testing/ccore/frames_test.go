//go:build !race

package ccore

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// A frame is read by both sides.
type frame struct {
	kind  byte
	bytes []byte
}

// kinds are the frames that a device reads.
var kinds = map[string]byte{
	"record": 'r', "announcement": 'a', "join-reply": 'j', "catch-up-reply": 'c',
}

// read is what Go makes of a frame.
func (f frame) read() error {
	var err error
	switch f.kind {
	case 'r':
		_, err = wire.DecodeRecord(f.bytes)
	case 'a':
		if len(f.bytes) >= 2 && f.bytes[0] == 0x91 && f.bytes[1] == compact.Version {
			_, err = compact.Decode(f.bytes)
		} else {
			_, err = wire.DecodeAnnouncement(f.bytes)
		}
	case 'j':
		_, err = wire.DecodeJoinReply(f.bytes)
	default:
		_, err = wire.DecodeCatchUpReply(f.bytes)
	}
	return err
}

func (f frame) compare(t testing.TB, j *judge) {
	t.Helper()
	err := f.read()
	if got, want := j.frame(t, f.kind, f.bytes), classOf(t, err); got != want {
		t.Errorf("frame %c: C %d, Go %d: %v\n%x", f.kind, got, want, err, f.bytes)
	}
}

// lines returns what follows a prefix on lines of a file of the repository.
func lines(t testing.TB, path, prefix string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		if rest, ok := strings.CutPrefix(s.Text(), prefix); ok {
			list = append(list, rest)
		}
	}
	if s.Err() != nil || len(list) == 0 {
		t.Fatalf("%s: %d lines with %q, %v", path, len(list), prefix, s.Err())
	}
	return list
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// frames returns the vectors of frames that a device reads.
func frames(t testing.TB) (list []frame) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "wire/testdata/vectors/*.txt"))
	if err != nil || len(paths) < 400 {
		t.Fatalf("%d vectors, %v", len(paths), err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(string(b), "\n\n")
		name, _, _ := strings.Cut(strings.TrimPrefix(head, "frame: "), "\n")
		if kind := kinds[name]; kind != 0 {
			list = append(list, frame{kind, unhex(t, strings.Join(strings.Fields(body), ""))})
		}
	}
	for _, text := range lines(t, "wire/compact/testdata/frames.txt", "frame") {
		list = append(list, frame{'a', unhex(t, strings.TrimSpace(text))})
	}
	for _, text := range lines(t, "client/replica/testdata/logs.txt", "record: ") {
		list = append(list, frame{'r', unhex(t, text)})
	}
	return list
}

func TestFrames(t *testing.T) {
	j := newJudge(t)
	for _, f := range frames(t) {
		f.compare(t, j)
	}
}

// TestFaultyFrames: frames with bytes that were changed, cut off or added.
func TestFaultyFrames(t *testing.T) {
	j, all := newJudge(t), frames(t)
	for seed := range count(20000) {
		g := newGen(seed)
		f := all[g.IntN(len(all))]
		f.bytes = g.damaged(f.bytes)
		f.compare(t, j)
	}
}

// TestBlocks: devices encode scalars to the same bytes, odd ones too.
func TestBlocks(t *testing.T) {
	j := newJudge(t)
	for seed := range count(3000) {
		g := newGen(seed)
		v := one(g, plan.Int8, plan.Int4, plan.Int2)
		block := make([]float32, 1+g.IntN(40))
		scale := one(g, 1e-42, 1e-8, 1e-5, 1, 1, 1000, 65504, 1e30)
		for i := range block {
			block[i] = float32(g.NormFloat64() * scale)
			if g.chance(50) {
				block[i] = one(g, odd...)
			}
		}
		request := []byte{'b', byte(v)}
		for _, s := range block {
			request = binary.LittleEndian.AppendUint32(request, math.Float32bits(s))
		}
		if got, want := j.ask(t, request), v.Append(nil, block...); !bytes.Equal(got, want) {
			t.Errorf("%v of %v: C %x, Go %x", v, block, got, want)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, v := range frames(f) {
		if len(v.bytes) < 600 {
			f.Add(v.kind, v.bytes)
		}
	}
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		frame{"rajc"[kind%4], b}.compare(t, j)
	})
}
