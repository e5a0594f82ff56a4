package compact_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

var update = flag.Bool("update", false, "write testdata/frames.txt instead of comparing it")

const (
	vectorFile  = "testdata/frames.txt"
	vectorCount = 30
)

// TestVectors compares with testdata/frames.txt. The file has frames, the result of decoding each
// frame, and the record that the frame carries after a record with hash prev.
func TestVectors(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "prev %v\n", prev)
	count := 0
	add := func(name string, frame []byte) {
		a, err := compact.Decode(frame)
		var record []byte
		if err == nil {
			record, err = a.Record(prev)
		}
		count++
		fmt.Fprintf(&b, "\n%s: %s\nframe  %x\n", name, expect(err), frame)
		if err == nil {
			fmt.Fprintf(&b, "record %x\n", record)
		}
	}
	for _, e := range examples() {
		frame, _ := encode(t, &e)
		add(e.name, frame)
	}
	for _, broken := range brokenFrames(t) {
		add(broken.name, broken.frame)
		if _, err := readBack(broken.frame); expect(err) != broken.expect {
			t.Errorf("%s: got %v, want %s", broken.name, err, broken.expect)
		}
	}
	if count != vectorCount {
		t.Fatalf("%d vectors, want %d", count, vectorCount)
	}
	if *update {
		if err := os.WriteFile(vectorFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func readBack(frame []byte) ([]byte, error) {
	a, err := compact.Decode(frame)
	if err != nil {
		return nil, err
	}
	return a.Record(prev)
}

func expect(err error) string {
	for name, sentinel := range map[string]error{
		"truncated": wire.ErrTruncated, "form": wire.ErrForm, "limit": wire.ErrLimit,
		"value": wire.ErrValue, "upgrade": wire.ErrUpgrade,
	} {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	return "ok"
}

type brokenFrame struct {
	name, expect string
	frame        []byte
}

// brokenFrames returns edits of a small frame, each with one fault. The frame is a text of its
// parts: head, announcement, tip, and from "r" on the record.
func brokenFrames(t *testing.T) (list []brokenFrame) {
	e := recipe()
	e.record.Round.Terms = nil
	e.add(0, 1, 2, 0xaa)
	e.add(0, 4, 2, 0xbb)
	e.record.Round.Contributors = 2
	frame, record := encode(t, &e)
	tip := wire.HashRecord(record).Tip()
	at := bytes.Index(frame, tip[:]) + len(tip)
	text := hex.EncodeToString(frame[:at]) + "r" + hex.EncodeToString(frame[at:])
	for _, f := range []struct{ name, expect, old, new string }{
		{"flags of a later version", "upgrade", "910300", "910304"},
		{"attempt 0", "form", "910300910301", "91030191030100"},
		{"n of record 2", "value", "9103009103", "91030002"},
		{"a long number", "form", "9103009103", "910300918300"},
		{"a number over its limit", "limit", "9103009103", "910300ffffffffffffffffff7f"},
		{"step not a number", "value", "6f12833a", "0000c07f"},
		{"step -0", "value", "6f12833a", "00000080"},
		{"factor 1", "form", "r0001", "r80010000803f"},
		{"the announcement's step again", "form", "r0001", "r01016f12833a"},
		{"contributors as implied", "form", "r0001", "r100102"},
		{"bits after the set", "form", "02042002", "02042102"},
		{"another tip", "value", tip.String(), strings.Repeat("00", 8)},
		{"bytes after the record", "form", "bbbb", "bbbb00"},
		{"scalars cut", "truncated", "bbbb", "bb"},
	} {
		if strings.Count(text, f.old) != 1 {
			t.Fatalf("%s: %q is %d times in %s", f.name, f.old, strings.Count(text, f.old), text)
		}
		b, err := hex.DecodeString(strings.Replace(strings.Replace(text, f.old, f.new, 1), "r", "", 1))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, brokenFrame{f.name, f.expect, b})
	}
	return list
}
