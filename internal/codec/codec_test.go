package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/codec"
)

// The tests of package wire compare whole frames with the msgpack library.

// Every length and number reads back from its shortest form, and from no other length.
func TestShortestForms(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 31, 32, 127, 128, 255, 256, 65535, 65536} {
		v := uint64(n) << 16
		text, bin := strings.Repeat("a", n), bytes.Repeat([]byte{7}, n)
		b := codec.AppendUint(codec.AppendUint(nil, uint64(n)), v)
		b = codec.AppendString(codec.AppendBin(b, bin), text)
		b = append(codec.AppendArray(b, n), bin...)
		d := codec.NewReader("frame", b)
		if got := d.Uint("n", uint64(n)); got != uint64(n) {
			t.Errorf("got %d, want %d", got, n)
		}
		if got := d.Uint("v", v); got != v {
			t.Errorf("got %d, want %d", got, v)
		}
		if got := d.Bin("bin", n); !bytes.Equal(got, bin) {
			t.Errorf("got %d bytes, want %d", len(got), n)
		}
		if got := d.String("text", n); got != text {
			t.Errorf("got a text of %d bytes, want %d", len(got), n)
		}
		if got := d.Array("array", n, 1); got != n {
			t.Errorf("got %d elements, want %d", got, n)
		}
		if got := d.Rest(); !d.OK() || !bytes.Equal(got, bin) {
			t.Errorf("got %d bytes left, want %d", len(got), n)
		}
	}
}

// A fault names its frame and field, is the first one, and ends the reading.
func TestFaults(t *testing.T) {
	u := func(v uint64) []byte { return codec.AppendUint(nil, v) }
	minusZero := codec.AppendFloat(nil, float32(math.Copysign(0, -1)))
	for _, test := range []struct {
		frame []byte
		read  func(*codec.Reader)
		want  string
	}{
		{nil, func(d *codec.Reader) { d.Uint("n", 9) }, "n: truncated"},
		{u(10), func(d *codec.Reader) { d.Uint("n", 9) }, "n: over the limit"},
		{[]byte{0xcc, 9}, func(d *codec.Reader) { d.Uint("n", 9) }, "n: not the expected msgpack form"},
		{u(3), func(d *codec.Reader) { d.Known("kind", 2) }, "kind: unknown to this version, upgrade"},
		{minusZero, func(d *codec.Reader) { d.Finite("mu") }, "mu: bad value"},
		{u(0), func(d *codec.Reader) { d.Positive("n", d.Uint("n", 9)) }, "n: bad value"},
		{u(0), func(d *codec.Reader) { d.Nonzero("n", d.Uint("n", 9)) },
			"n: not the expected msgpack form"},
		{codec.AppendArray(nil, 2), func(d *codec.Reader) { d.Array("terms", 9, 5) },
			"terms: truncated"},
		{append(codec.AppendArray(nil, 2), 1, 1), func(d *codec.Reader) { d.Head(1, 3) },
			"frame: not the expected msgpack form"},
		{append(codec.AppendArray(nil, 2), 2, 1), func(d *codec.Reader) { d.Head(1, 3) },
			"version: unknown to this version, upgrade"},
		{append(codec.AppendMap(nil, 2), 2, 0, 1, 0), func(d *codec.Reader) {
			d.Keys("body", func(uint64) bool { return d.Uint("value", 9) == 0 })
		}, "body: not the expected msgpack form"},
		{append(codec.AppendMap(nil, 1), 2, 0), func(d *codec.Reader) {
			d.Keys("body", func(uint64) bool { return false })
		}, "body: unknown to this version, upgrade"},
		{u(1), func(d *codec.Reader) { d.End() }, "trailing bytes: not the expected msgpack form"},
	} {
		d := codec.NewReader("frame", test.frame)
		test.read(&d)
		d.Fail("another", errors.New("later"))
		frame, field, err := d.Fault()
		if got := fmt.Sprintf("%s: %v", field, err); frame != "frame" || got != test.want || d.OK() {
			t.Errorf("%x: got %s: %s, want frame: %s", test.frame, frame, got, test.want)
		}
		if d.Uint("n", 9) != 0 || d.Bin("bin", 9) != nil || d.Rest() != nil {
			t.Errorf("%x: something is read after the fault", test.frame)
		}
	}
}

// A text for people is cut between its characters.
func TestAppendText(t *testing.T) {
	for text, want := range map[string]string{
		"why": "why", "a\xffb": "a?b", "abcdefgh": "abcde", "abcdé": "abcd", "ééé": "éé",
	} {
		d := codec.NewReader("frame", codec.AppendText(nil, text, 5))
		if got := d.String("text", 5); got != want || !d.OK() {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
