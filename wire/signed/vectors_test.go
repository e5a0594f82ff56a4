package signed_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire/signed"
)

var update = flag.Bool("update", false, "write testdata/signed.txt instead of comparing it")

const vectorFile = "testdata/signed.txt"

// TestVectors compares with testdata/signed.txt. The file has frames before and after signing.
func TestVectors(t *testing.T) {
	s := signer(t, 1)
	var b strings.Builder
	fmt.Fprintf(&b, "seed %x\nkey %v\nrun %s\n", bytes.Repeat([]byte{1}, 32), s.Key(), run)
	for _, sample := range samples(t) {
		frame, _, err := s.Announcement(run, sample.frame)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\nannouncement: %s\nframe  %x\nsigned %x\n", sample.name, sample.frame, frame)
	}
	request := signed.Ask([]byte{0x93, 1, 5, 0xff}, [12]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	answer := []byte{0x94, 1, 5, 4, 0x90}
	fmt.Fprintf(&b, "\nanswer\nsubject zo.mnist.c.pi-1\nrequest %x\nframe  %x\nsigned %x\n", request,
		answer,
		s.Answer("zo.mnist.c.pi-1", signed.RequestOf(request), bytes.Clone(answer)))
	if *update {
		if err := os.WriteFile(vectorFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the vectors differ: see git diff after -update\n%s", b.String())
	}
}
