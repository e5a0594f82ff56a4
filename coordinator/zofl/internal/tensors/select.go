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
	"unicode"
	"unicode/utf8"

	"github.com/zofl/zofl/plan"
)

// A Selection is the set of a file's tensors that a run trains. The elements of these tensors are
// the parameters: one tensor after the other in the byte order of their names, each row by row.
type Selection struct {
	Tensors []Tensor
	Len     uint64   // number of parameters
	Passed  []Tensor // tensors of integers that match a pattern

	file *File
}

// mostParams is the largest number of parameters that a plan can have and a device can hold.
const mostParams = min(plan.MaxDim, math.MaxInt/8)

// Select returns the tensors whose names match one of the patterns, or all tensors if there are no
// patterns. Select leaves out tensors whose names match a pattern after !. In a pattern * stands
// for any text and ? for one character. A pattern without a match is an error. A tensor that
// matches and cannot be trained is an error too. But Select skips a tensor of integers, unless a
// pattern is exactly its name.
func (f *File) Select(patterns []string) (*Selection, error) {
	if f.Format == ".npy" && len(patterns) > 0 {
		return nil, fmt.Errorf("%s: its one tensor has no name: leave out --train", f.Name)
	}
	s := &Selection{file: f}
	chosen, err := f.choose(patterns)
	if err != nil {
		return nil, err
	}
	for i, t := range f.Tensors {
		switch {
		case !chosen[i]:
			continue
		case t.Integer && !slices.Contains(patterns, t.Name) && f.Format != ".npy":
			s.Passed = append(s.Passed, t)
			continue
		case t.Why != nil:
			return nil, f.refuse(t, patterns, chosen)
		}
		s.Tensors = append(s.Tensors, t)
		if s.Len += t.Len; s.Len > mostParams {
			return nil, fmt.Errorf("%s: more than %d parameters", f.Name, uint64(mostParams))
		}
	}
	switch {
	case s.Len > 0:
		return s, nil
	case len(s.Passed) > 0:
		return nil, f.refuse(s.Passed[0], patterns, chosen)
	}
	return nil, fmt.Errorf("%s: the tensors have no elements", f.Name)
}

// choose says which tensors the patterns name.
func (f *File) choose(patterns []string) ([]bool, error) {
	named := make([]bool, len(f.Tensors))
	left, all := make([]bool, len(f.Tensors)), true
	for _, p := range patterns {
		pattern, without := strings.CutPrefix(p, "!")
		list := named
		if without {
			list = left
		} else {
			all = false
		}
		found := false
		for i := range f.Tensors {
			if matches(pattern, f.Tensors[i].Name) {
				list[i], found = true, true
			}
		}
		if !found {
			return nil, f.missing(pattern)
		}
	}
	for i := range named {
		named[i] = (named[i] || all) && !left[i]
	}
	if !slices.Contains(named, true) {
		return nil, fmt.Errorf("%s: --train leaves out every tensor: it has %s", f.Name, f.names())
	}
	return named, nil
}

// missing returns the error that no tensor matches a pattern.
func (f *File) missing(pattern string) error {
	for _, name := range f.Constants {
		if matches(pattern, name) {
			return fmt.Errorf("%s: %q is a constant in a node, no initializer: %s", f.Name, name,
				toInitializers)
		}
	}
	return fmt.Errorf("no tensor of %s is called %q: it has %s", f.Name, pattern, f.names())
}

// refuse returns the error of a tensor that cannot be trained, with other patterns for --train.
func (f *File) refuse(t Tensor, patterns []string, chosen []bool) error {
	if f.Format == ".npy" {
		return fmt.Errorf("%s: %w", f.Name, t.Why)
	}
	return fmt.Errorf("%s: tensor %q: %w; %s", f.Name, t.Name, t.Why, f.instead(patterns, chosen))
}

// instead advises patterns without the tensors that cannot be trained. The patterns name the
// others of the chosen tensors; if there are many, they leave out those that cannot.
func (f *File) instead(patterns []string, chosen []bool) string {
	var can, chosenCan, cannot []string
	for i, t := range f.Tensors {
		switch name := literal(t.Name); {
		case t.Why != nil && chosen[i]:
			cannot = append(cannot, "!"+name)
		case t.Why == nil && chosen[i]:
			chosenCan = append(chosenCan, name)
			fallthrough
		case t.Why == nil:
			can = append(can, name)
		}
	}
	if len(chosenCan) > 0 {
		can = chosenCan
	}
	switch {
	case len(can) == 0:
		return "no tensor of the file can be trained as it is"
	case len(can) <= mostNames || len(chosenCan) == 0:
		return fmt.Sprintf("or train others: --train '%s'",
			strings.Join(can[:min(len(can), mostNames)], ","))
	case len(patterns) == 0:
		patterns = []string{"*"}
	}
	patterns = slices.DeleteFunc(slices.Clone(patterns), func(p string) bool {
		return slices.ContainsFunc(f.Tensors, func(t Tensor) bool { return t.Integer && t.Name == p })
	})
	return fmt.Sprintf("or train others: --train '%s'", strings.Join(append(patterns, cannot...), ","))
}

// literal returns a pattern for a name, which any shell and list takes as it is.
func literal(name string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("*!,'\"\\", c) || !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, name)
}

// matches says whether a name matches a pattern.
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
		case star >= 0: // let the * stand for one more character
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
