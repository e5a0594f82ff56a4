//go:build !race

package ccore

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/zofl/zofl/wire"
)

const root = "../.."

// codes of zofl.h.
const (
	cUnsupported = -8
	cRoom        = -9
)

// classes are the codes of zofl.h for errors of frames.
var classes = []struct {
	err  error
	code int8
}{
	{nil, 0}, {wire.ErrTruncated, -1}, {wire.ErrForm, -2}, {wire.ErrLimit, -3},
	{wire.ErrValue, -4}, {wire.ErrUpgrade, -5},
}

func classOf(t testing.TB, err error) int8 {
	t.Helper()
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	t.Fatalf("an error of no class: %v", err)
	return 0
}

// A judge is c/test/verdict.c, running.
type judge struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// program compiles verdict.c with sanitizers, once: what C reads beyond a frame ends the child.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ccore")
	if err != nil {
		return "", err
	}
	amalgam, err := exec.Command(filepath.Join(root, "c/amalgamate.sh")).Output()
	if err != nil {
		return "", fmt.Errorf("amalgamate.sh: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "zofl.c"), amalgam, 0o600); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "verdict")
	said, err := exec.Command("gcc", "-std=c99", "-O1", "-g", "-fsanitize=address,undefined",
		"-fno-sanitize-recover=all", "-DZOFL_TILE=64", "-I"+dir, "-I"+filepath.Join(root, "c"),
		"-o", path, filepath.Join(root, "c/test/verdict.c"), "-lm").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gcc: %w: %s", err, said)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

func newJudge(t testing.TB) *judge {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("verdict ended: %v", err)
		}
	})
	return &judge{in, bufio.NewReader(out)}
}

// ask sends a request and returns its answer.
func (j *judge) ask(t testing.TB, request []byte) []byte {
	t.Helper()
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(request)))
	if _, err := j.in.Write(append(b, request...)); err != nil {
		t.Fatalf("verdict takes no request: %v", err)
	}
	var length [4]byte
	if _, err := io.ReadFull(j.out, length[:]); err != nil {
		t.Fatalf("verdict ended on %x: %v", request, err)
	}
	answer := make([]byte, binary.LittleEndian.Uint32(length[:]))
	if _, err := io.ReadFull(j.out, answer); err != nil {
		t.Fatalf("verdict ended on %x: %v", request, err)
	}
	return answer
}

// frame returns what C makes of a frame.
func (j *judge) frame(t testing.TB, kind byte, frame []byte) int8 {
	t.Helper()
	return int8(j.ask(t, append([]byte{kind}, frame...))[0])
}

// A verdict is what became of a record of a log.
type verdict struct {
	code   int8
	field  uint8 // with cUnsupported
	digest [32]byte
}

// log returns what C makes of a log, up to the first record that it refuses.
func (j *judge) log(t testing.TB, g *runLog) []verdict {
	t.Helper()
	request := []byte{'l', byte(len(g.run)), byte(len(g.secret))}
	request = append(append(request, g.run...), g.secret...)
	request = binary.LittleEndian.AppendUint32(request, uint32(len(g.initial)))
	for _, v := range g.initial {
		request = binary.LittleEndian.AppendUint32(request, math.Float32bits(v))
	}
	for _, r := range g.records {
		request = binary.LittleEndian.AppendUint32(request, uint32(len(r)))
		request = append(request, r...)
	}
	answer := j.ask(t, request)
	var list []verdict
	for ; len(answer) >= 34; answer = answer[34:] {
		list = append(list, verdict{int8(answer[0]), answer[1], [32]byte(answer[2:34])})
	}
	return list
}
