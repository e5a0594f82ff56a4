package tfevents

import (
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestBytes: the bytes are those that the RecordWriter of tensorboard 2.21, in Python, writes for
//
//	Event(wall_time=1.5, file_version="brain.Event:2")
//	Event(wall_time=2.5, step=300, summary=Summary(value=[
//	    Summary.Value(tag="loss", simple_value=0.25), Summary.Value(tag="a/b", simple_value=-3)]))
//
// Scalars that are not finite are left out.
func TestBytes(t *testing.T) {
	const want = "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c" +
		"2700000000000000bbe1b14609000000000000044010ac022a190a0b0a046c6f7373150000803e0a" +
		"0a0a03612f6215000040c0fda7dfee"
	dir := filepath.Join(t.TempDir(), "run")
	w, err := Create(dir, time.Unix(1, 5e8))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(time.Unix(2, 5e8), 300, []Scalar{{"loss", 0.25}, {"gone", math.NaN()},
		{"far", math.Inf(-1)}, {"a/b", -3}}); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(filepath.Join(dir, "events.out.tfevents.0.zofl"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(out); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
