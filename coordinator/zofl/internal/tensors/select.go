package tensors

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zofl/zofl/plan"
)

// A Selection is the tensors of a file that are trained. Their elements, one tensor after the
// other in the order of their names' bytes and each row by row, are the parameters.
type Selection struct {
	Tensors []Tensor
	Len     uint64 // number of parameters

	file *File
}

// mostParams is the largest number of parameters that a plan can have and a device can hold.
const mostParams = min(plan.MaxDim, math.MaxInt/8)

// Select returns the tensors whose names match one of the patterns, or all without a pattern. In
// a pattern * stands for any text and ? for one character. A tensor that matches but is not
// float32 is an error, and so is a pattern without a match.
func (f *File) Select(patterns []string) (*Selection, error) {
	if f.Format == ".npy" && len(patterns) > 0 {
		return nil, fmt.Errorf("%s: its one tensor has no name: leave out --train", f.Name)
	}
	s := &Selection{file: f}
	chosen := make([]bool, len(f.Tensors))
	for _, pattern := range patterns {
		found := false
		for i := range f.Tensors {
			if matches(pattern, f.Tensors[i].Name) {
				chosen[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("no tensor of %s is called %q: it has %s", f.Name, pattern,
				f.names())
		}
	}
	for i, t := range f.Tensors {
		switch {
		case len(patterns) > 0 && !chosen[i]:
			continue
		case t.Why != nil:
			return nil, fmt.Errorf("%s: tensor %q: %w; float32 are %s", f.Name, t.Name, t.Why,
				f.trainable())
		}
		s.Tensors = append(s.Tensors, t)
		if s.Len += t.Len; s.Len > mostParams {
			return nil, fmt.Errorf("%s: more than %d parameters", f.Name, uint64(mostParams))
		}
	}
	if s.Len == 0 {
		return nil, fmt.Errorf("%s: the tensors have no elements", f.Name)
	}
	return s, nil
}

// matches says whether a name is like a pattern.
func matches(pattern, name string) bool {
	star, retry := -1, 0 // where the last * is, and where the name goes on after it
	p, n := 0, 0
	for n < len(name) {
		_, wide := utf8.DecodeRuneInString(name[n:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, retry = p, n
			p++
		case p < len(pattern) && pattern[p] == '?':
			p, n = p+1, n+wide
		case p < len(pattern) && pattern[p] == name[n]:
			p, n = p+1, n+1
		case star >= 0: // let it stand for one more
			retry++
			p, n = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// mostNames is how many names an error lists.
const mostNames = 12

func (f *File) names() string {
	var names []string
	for _, t := range f.Tensors {
		names = append(names, fmt.Sprintf("%q", t.Name))
	}
	return list(names)
}

func (f *File) trainable() string {
	var names []string
	for _, t := range f.Tensors {
		if t.Why == nil {
			names = append(names, fmt.Sprintf("%q", t.Name))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return list(names)
}

func list(names []string) string {
	if more := len(names) - mostNames; more > 0 {
		names = append(slices.Clone(names[:mostNames]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// SHA256 returns the hash of the whole file, in hexadecimal.
func (f *File) SHA256() (string, error) {
	h := sha256.New()
	n, err := io.Copy(h, f.section())
	if err == nil && n != f.size {
		err = errors.New("the file became shorter")
	}
	return hex.EncodeToString(h.Sum(nil)), err
}
