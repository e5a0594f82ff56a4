package wire_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/leader"
	"github.com/zofl/zofl/internal/wiretest"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

var update = flag.Bool("update", false, "write the files of testdata instead of comparing them")

const vectorDir = "testdata/vectors"

// frames has a function for each frame that decodes it and returns its encoding.
var frames = map[string]func([]byte) ([]byte, error){
	"record": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeRecord(b)
		return again(v.Append, err)
	},
	"announcement": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeAnnouncement(b)
		return again(v.Append, err)
	},
	"reply": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeReply(b)
		return again(v.Append, err)
	},
	"join-request": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeJoinRequest(b)
		return again(v.Append, err)
	},
	"join-reply": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeJoinReply(b)
		return again(v.Append, err)
	},
	"catch-up-request": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeCatchUpRequest(b)
		return again(v.Append, err)
	},
	"catch-up-reply": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeCatchUpReply(b)
		return again(v.Append, err)
	},
	"snapshot-request": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeSnapshotRequest(b)
		return again(v.Append, err)
	},
	"snapshot-reply": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeSnapshotReply(b)
		return again(v.Append, err)
	},
	"upload": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeUpload(b)
		return again(v.Append, err)
	},
	"upload-reply": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeUploadReply(b)
		return again(v.Append, err)
	},
	"object-request": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeObjectRequest(b)
		return again(v.Append, err)
	},
	"object-reply": func(b []byte) ([]byte, error) {
		v, err := wire.DecodeObjectReply(b)
		return again(v.Append, err)
	},
	"lead": func(b []byte) ([]byte, error) {
		v, err := leader.Decode(b)
		return again(v.Append, err)
	},
}

func again(encode func([]byte) []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return encode(nil), nil
}

var sentinels = map[string]error{
	"ok": nil, "truncated": wire.ErrTruncated, "form": wire.ErrForm,
	"limit": wire.ErrLimit, "value": wire.ErrValue, "upgrade": wire.ErrUpgrade,
}

// TestVectorFiles compares the files with the code that generates them.
func TestVectorFiles(t *testing.T) {
	made := wiretest.Vectors()
	if len(made) != wiretest.Count {
		t.Fatalf("the kit makes %d vectors, wiretest.Count is %d", len(made), wiretest.Count)
	}
	if *update {
		writeVectors(t, made)
	}
	slices.SortFunc(made,
		func(a, b wiretest.Vector) int { return strings.Compare(a.Name+".txt", b.Name+".txt") })
	for i, v := range loadVectors(t) {
		if got, want := v.Format(),
			made[i].Format(); v.Name != made[i].Name || !bytes.Equal(got, want) {
			t.Fatalf(
				"file %s holds\n%s\nthe kit makes %s\n%s\ngo test ./wire -run TestVectorFiles "+
					"-update", v.Name, got, made[i].Name, want)
		}
	}
}

func writeVectors(t *testing.T, vectors []wiretest.Vector) {
	t.Helper()
	if err := os.RemoveAll(vectorDir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(vectorDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if err := os.WriteFile(filepath.Join(vectorDir, v.Name+".txt"), v.Format(),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func loadVectors(t testing.TB) []wiretest.Vector {
	t.Helper()
	vectors, err := wiretest.Load(vectorDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	return vectors
}

// vectorsOf returns the bytes of a frame's vectors with the given expectation, or of all if
// it is "".
func vectorsOf(t testing.TB, frame, expect string) [][]byte {
	t.Helper()
	var list [][]byte
	for _, v := range loadVectors(t) {
		if v.Frame == frame && (expect == "" || expect == v.Expect) {
			list = append(list, v.Bytes)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no vectors of a %s", frame)
	}
	return list
}

// vector returns the bytes of one vector.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	for _, v := range loadVectors(t) {
		if v.Name == name {
			return v.Bytes
		}
	}
	t.Fatalf("no vector %s", name)
	return nil
}

// TestVectors: a decoder finds the fault of each test vector, and no other fault. A frame that the
// decoder accepts encodes to the same bytes.
func TestVectors(t *testing.T) {
	for _, v := range loadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			decode, known := frames[v.Frame]
			want, expected := sentinels[v.Expect]
			if !known || !expected {
				t.Fatalf("frame %q, expect %q", v.Frame, v.Expect)
			}
			got, err := decode(v.Bytes)
			if !errors.Is(err, want) {
				t.Fatalf("got error %v, want %v: %s", err, want, v.Comment)
			}
			if want == nil {
				if !bytes.Equal(got, v.Bytes) {
					t.Errorf("re-encoded\ngot  %x\nwant %x", got, v.Bytes)
				}
				return
			}
			var fault *wire.DecodeError
			if !errors.As(err, &fault) {
				t.Fatalf("got error of type %T, want a *DecodeError", err)
			}
			if frame := strings.ReplaceAll(v.Frame, "-", " "); strings.ReplaceAll(fault.Frame, "-",
				" ") != frame || fault.Field == "" {
				t.Errorf("got a fault of frame %q, field %q, want frame %q", fault.Frame,
					fault.Field, frame)
			}
		})
	}
}

// TestEveryPrefixIsTruncated: the error for every proper prefix of a frame is ErrTruncated, except
// for a prefix that ends right after the frame's array.
func TestEveryPrefixIsTruncated(t *testing.T) {
	followed := []string{"announcement-reference", "reply-contribution-control",
		"announcement-survey", "announcement-survey-reference", "reply-contribution-survey",
		"reply-contribution-slope", "announcement-groups", "announcement-groups-reference",
		"reply-contribution-group", "reply-contribution-slope-group", "reply-decline-away"}
	for _, v := range loadVectors(t) {
		if v.Expect != "ok" || strings.HasSuffix(v.Name, "-rest") ||
			slices.Contains(followed, v.Name) {
			continue
		}
		for n := range v.Bytes {
			if _, err := frames[v.Frame](v.Bytes[:n]); !errors.Is(err, wire.ErrTruncated) {
				t.Errorf("%s: first %d bytes: got %v, want %v", v.Name, n, err, wire.ErrTruncated)
			}
		}
	}
}

func TestVectorPlansValidate(t *testing.T) {
	for _, name := range []string{"record-plan", "record-plan-full", "record-plan-relay",
		"record-plan-pool", "record-plan-control",
		"record-plan-dense", "record-plan-fzoos", "record-plan-late", "record-plan-late-async"} {
		r, err := wire.DecodeRecord(vector(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := valid.Plan(r.Plan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
