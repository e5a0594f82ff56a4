package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/offer"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// bodyLen makes a file of several pieces, the last one short.
const bodyLen = 3*wire.MaxPiece + 5

// newModel writes a model whose head has the kitchen's parameters, and returns its SHA-256.
func newModel(t *testing.T) (file, sum string) {
	t.Helper()
	header := fmt.Sprintf(`{"head":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]},`+
		`"body":{"dtype":"U8","shape":[%d],"data_offsets":[%[2]d,%[4]d]}}`, kitchenDim, 4*kitchenDim,
		bodyLen, 4*kitchenDim+bodyLen)
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	for i := range 4*kitchenDim + bodyLen {
		b = append(b, byte(i%61)) // no pattern of a piece's length
	}
	file = filepath.Join(t.TempDir(), "model.safetensors")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(b)
	return file, hex.EncodeToString(hash[:])
}

// startOffer serves a run that begins with a model, and offers the model's file.
func startOffer(t *testing.T) (r *modelRun, file, sum string) {
	t.Helper()
	file, sum = newModel(t)
	r = startModelRun(t, []string{"--offer", file}, "--initial", file, "--train", "head")
	return r, file, sum
}

// TestFetchTheModel: a device without the file fetches the same bytes from the coordinator's
// process. A device that has the file uses its own. A device refuses a file with another SHA-256.
func TestFetchTheModel(t *testing.T) {
	t.Parallel()
	r, file, sum := startOffer(t)
	fetched := filepath.Join(r.dir, "fetched.safetensors")
	begin := func(name, sum string) []string {
		return []string{"--initial", name, "--train", "head", "--fetch", sum}
	}
	wrong := strings.Repeat("0", 64)
	refused(t, r.device("b", kitchenDim, begin(fetched, wrong)...), []string{"--fetch", wrong, sum})
	if left, err := filepath.Glob(filepath.Join(r.dir, "*fetched*")); err != nil || len(left) > 0 {
		t.Errorf("a wrong file is kept: %v, %v", left, err)
	}
	if err := r.device("a", kitchenDim, begin(fetched, strings.ToUpper(sum))...); err != nil {
		t.Fatal(err)
	}
	if bytesOf(t, fetched) != bytesOf(t, file) {
		t.Error("the fetched file differs from that of the coordinator")
	}
	if err := r.device("a", kitchenDim, begin(file, sum)...); err != nil {
		t.Errorf("a file that is there: %v", err)
	}
	refused(t, r.device("c", kitchenDim, begin(modelFile("model.npz"), sum)...),
		[]string{"--fetch", "model.npz"})
}

// TestFetchWithoutAFlag: a device without --initial begins with what the coordinator offers, in any
// format. With a store it fetches once.
func TestFetchWithoutAFlag(t *testing.T) {
	t.Parallel()
	for name, train := range map[string][]string{
		"model.safetensors": {"--train", "head.*"}, "model.npz": {"--train", "head.*"},
		"model.onnx": {"--train", "head.*"}, "model.npy": nil, "model.f32": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := append([]string{"--initial", modelFile(name)}, train...)
			r := startModelRun(t, []string{"--offer", modelFile(name)}, begin...)
			dim := dimOf(t, r.plan)
			store := filepath.Join(r.dir, "store")
			if err := r.device("a", dim, "--store", store); err != nil {
				t.Fatal(err)
			}
			kept, err := os.ReadFile(filepath.Join(store, "initial"))
			if err != nil || len(kept) != 4*dim {
				t.Errorf("the store keeps %d bytes of %d parameters: %v", len(kept), dim, err)
			}
			if err := r.device("b", dim, begin...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNobodyOffers: a device without --initial in a run of a given model ends, and says so.
func TestNobodyOffers(t *testing.T) {
	t.Parallel()
	file, _ := newModel(t)
	r := startModelRun(t, nil, "--initial", file, "--train", "head")
	err := r.device("a", kitchenDim)
	refused(t, err, []string{"--initial is missing", "nobody offers", "--offer"})
}

func dimOf(t *testing.T, name string) int {
	t.Helper()
	p, err := cli.ReadPlan(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return int(p.Dim)
}

func TestFetchFlags(t *testing.T) {
	device := []string{"client", "--url", "nats://127.0.0.1:1", "--run", "r", "--id", "a",
		"--objective", "bowl", "--dim", "2", "--fetch"}
	for _, c := range []struct{ args, want []string }{
		{[]string{"beef"}, []string{"--fetch beef", "64"}},
		{[]string{strings.Repeat("0", 64)}, []string{"--fetch", "--initial"}},
	} {
		_, err := zofl(t, append(device, c.args...)...)
		refused(t, err, c.want)
	}
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	if _, err := zofl(t, "plan", "--dim", "2", "--write", plan); err != nil {
		t.Fatal(err)
	}
	_, err := zofl(t, "serve", plan, "--store", filepath.Join(dir, "log"), "--listen", "127.0.0.1:0",
		"--offer", filepath.Join(dir, "none"))
	refused(t, err, []string{"--offer", "none"})
}

// mostFetched is more than any file of these tests has, in bytes.
const mostFetched = 1 << 30

// TestFetchFromALiar: after a file with wrong bytes, malformed pieces, or a file that would fill
// the disk, the device leaves no file behind.
func TestFetchFromALiar(t *testing.T) {
	t.Parallel()
	r, file, sum := startOffer(t)
	nc, err := nats.Connect(r.url, nats.RetryOnFailedConnect(true))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	ready := offer.Request{Conn: nc, Run: "kitchen", ID: "d", Name: filepath.Join(r.dir, "ready"),
		SHA256: sum, Most: mostFetched}
	if err := ready.Get(t.Context()); err != nil { // from here on it is offered
		t.Fatal(err)
	}
	asked := 0
	lies := func(m *nats.Msg) {
		asked++
		answer := binary.LittleEndian.AppendUint64(nil, 16)
		switch asked {
		case 1:
			answer = answer[:3]
		case 2: // no piece
		case 3:
			answer = append(answer, "more than sixteen"...)
		case 4: // more than any disk has
			answer = append(binary.LittleEndian.AppendUint64(nil, 1<<62), "8 bytes!"...)
		case 6: // of another file
			answer = append(binary.LittleEndian.AppendUint64(nil, 24), "8 bytes!"...)
		default:
			answer = append(answer, "8 bytes!"...)
		}
		_ = m.Respond(answer)
	}
	if _, err := nc.Subscribe(subjects.AllFiles("other"), lies); err != nil {
		t.Fatal(err)
	}
	var reasons []string
	name := filepath.Join(r.dir, "lies")
	request := offer.Request{Conn: nc, Run: "other", ID: "d", Name: name, SHA256: sum,
		Most:    mostFetched,
		Waiting: func(reason string) { reasons = append(reasons, reason) }}
	if err := request.Get(t.Context()); !errors.Is(err, offer.ErrOther) || len(reasons) != 5 {
		t.Errorf("got %v after %q", err, reasons)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}

	// The coordinator does not answer malformed requests, so the first answer is to the good request
	// after them.
	answers := make(chan *nats.Msg, 8)
	if _, err := nc.ChanSubscribe("_INBOX_d.x", answers); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ data, to string }{
		{"", "_INBOX_d.x"}, {"123456789", "_INBOX_d.x"},
		{strings.Repeat("\xff", 8), "_INBOX_d.x"}, {strings.Repeat("\x00", 8), "zo.kitchen.o.stop"},
		{"\x01" + strings.Repeat("\x00", 7), "_INBOX_d.x"},
	} {
		err := nc.PublishRequest(subjects.File("kitchen", "d"), c.to, []byte(c.data))
		if err != nil {
			t.Fatal(err)
		}
	}
	whole := bytesOf(t, file)
	var m *nats.Msg
	select {
	case m = <-answers:
	case <-time.After(patience):
		t.Fatal("no answer")
	}
	if binary.LittleEndian.Uint64(m.Data) != uint64(len(whole)) ||
		string(m.Data[8:]) != whole[1:1+wire.MaxPiece] {
		t.Errorf("the first answer has %d bytes, want the piece at 1", len(m.Data))
	}
}

// TestFetchByEnrolled: enrolled devices may fetch the model if serve offers the model's file.
func TestFetchByEnrolled(t *testing.T) {
	t.Parallel()
	file, sum := newModel(t)
	begin := []string{"--initial", file, "--train", "head"}
	k := newEnrolledFor(t, append(begin, "--set", "members=1", "--set", "target=1"), "--offer", file)
	operator := k.add("alice", "operator")
	begin[1] = filepath.Join(k.dir, "fetched.safetensors")
	for id, role := range map[string]string{"a": "device", "w": "witness"} {
		args := append([]string{"follow"}, k.add(id, role)...)
		if role == "device" {
			args = append(args, "--objective", "bowl", "--dim", fmt.Sprint(kitchenDim))
			args[0] = "client"
		}
		background(t, append(append(args, "--id", id, "--json", "--fetch", sum), begin...)...)
	}
	k.recordsReach(operator, 8)
	if bytesOf(t, begin[1]) != bytesOf(t, file) {
		t.Error("the fetched file differs from that of the coordinator")
	}
}

// TestPermissionToFetch: --model adds the subject of the file, and nothing else.
func TestPermissionToFetch(t *testing.T) {
	for role, want := range map[string]string{"device": "zo.kitchen.f.pi",
		"witness": "zo.kitchen.f.pi", "coordinator": "zo.kitchen.f.*", "operator": ""} {
		args := []string{"permissions", "--run", "kitchen", "--role", role}
		if role == "device" || role == "witness" {
			args = append(args, "--device", "pi")
		}
		without, err := zofl(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		with, err := zofl(t, append(args, "--model")...)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(with) {
			if !strings.Contains(line, `"`+want+`"`) {
				lines = append(lines, line)
			}
		}
		if strings.Join(lines, "") != without || (want == "") != (with == without) {
			t.Errorf("%s: with --model\n%swithout\n%s", role, with, without)
		}
	}
}
