package wiretest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Vector is one frame, and the result that a reader must report.
type Vector struct {
	Name  string // of its file, without .txt
	Frame string // its kind, as "reply"
	// Expect is ok, or the error of package wire that a reader must give: truncated, form,
	// limit, value or upgrade.
	Expect  string
	Comment string
	Bytes   []byte
}

// Format returns the file of a vector: a text header, a blank line, and the
// bytes in hexadecimal.
func (v Vector) Format() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "frame: %s\nexpect: %s\ncomment: %s\n\n", v.Frame, v.Expect, v.Comment)
	const perLine = 32
	for p := v.Bytes; len(p) > 0; {
		n := min(perLine, len(p))
		fmt.Fprintf(&b, "%x\n", p[:n])
		p = p[n:]
	}
	return b.Bytes()
}

// Parse reads the file of a vector.
func Parse(name string, file []byte) (Vector, error) {
	header, body, found := strings.Cut(string(file), "\n\n")
	if !found {
		return Vector{}, fmt.Errorf("%s: no blank line after the header", name)
	}
	v := Vector{Name: name}
	for line := range strings.Lines(header) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "frame":
			v.Frame = value
		case "expect":
			v.Expect = value
		case "comment":
			v.Comment = value
		default:
			return Vector{}, fmt.Errorf("%s: unknown header line %q", name, line)
		}
	}
	var err error
	if v.Bytes, err = hex.DecodeString(strings.Join(strings.Fields(body), "")); err != nil {
		return Vector{}, fmt.Errorf("%s: %v", name, err)
	}
	return v, nil
}

// Load reads the vectors of a folder, ordered by name. Load returns an error if the number of
// vectors is not Count, so that no test passes because files are missing.
func Load(dir string) ([]Vector, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) != Count {
		return nil, fmt.Errorf("%s has %d vectors, not %d", dir, len(files), Count)
	}
	vectors := make([]Vector, len(files))
	for i, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if vectors[i], err = Parse(strings.TrimSuffix(filepath.Base(path), ".txt"), b); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}
