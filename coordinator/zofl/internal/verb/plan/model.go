package plan

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// A beginning is the part of the initial model file that a plan describes.
type beginning struct {
	File    string        `json:"file"`
	Train   []string      `json:"train,omitempty"`
	Tensors []startTensor `json:"tensors,omitempty"`
	Passed  []string      `json:"passed,omitempty"`    // tensors of integers
	Within  []string      `json:"constants,omitempty"` // names of constants in nodes of an .onnx file
	Digest  plan.Bytes    `json:"digest"`              // of the parameters
	SHA256  string        `json:"sha256,omitempty"`    // of the file

	untouched int
}

// A startTensor is a tensor that the run trains.
type startTensor struct {
	Name    string   `json:"name"`
	Segment string   `json:"segment,omitempty"`
	Shape   []uint64 `json:"shape"`
	Len     uint64   `json:"parameters"`
}

// begin makes a plan start from the tensors of the file: it sets dim, segments, initial and
// initial_digest.
func (f *planFlags) begin(p *plan.Plan) error {
	if f.initial.File == "" {
		return f.initial.Unused()
	}
	if tensors.Format(f.initial.File) == ".f32" {
		return f.beginFlat(p)
	}
	m, err := f.initial.Open()
	if err != nil {
		return err
	}
	defer m.Close()
	digest, _, err := f.initial.Digest()
	if err != nil {
		return err
	}
	hash, err := m.SHA256()
	if err != nil {
		return err
	}
	f.begins = &beginning{File: f.initial.File, Train: f.initial.Train, SHA256: hash,
		Digest: digest, untouched: len(m.File.Tensors) - len(m.Selection.Tensors)}
	for _, t := range m.Selection.Passed {
		f.begins.Passed = append(f.begins.Passed, t.Name+" ("+t.Type+")")
	}
	f.begins.Within = m.Constants
	segments := modelfile.Segments(m.Selection)
	for i, t := range m.Selection.Tensors {
		line := startTensor{Name: t.Name, Shape: t.Shape, Len: t.Len}
		if segments != nil {
			line.Segment = segments[i].Name
		}
		f.begins.Tensors = append(f.begins.Tensors, line)
	}
	return f.begins.set(p, m.Selection.Len, modelfile.NonEmpty(segments))
}

// beginFlat is begin for a file of numbers.
func (f *planFlags) beginFlat(p *plan.Plan) error {
	digest, dim, err := f.initial.Digest()
	if err != nil {
		return err
	}
	f.begins = &beginning{File: f.initial.File, Digest: digest}
	return f.begins.set(p, dim, nil)
}

// set sets the fields of a plan.
func (b *beginning) set(p *plan.Plan, dim uint64, segments []plan.Segment) error {
	if p.Dim != 0 && p.Dim != dim {
		return &plan.Error{Field: "dim", Value: p.Dim, Remedy: fmt.Sprintf("%s has %d parameters "+
			"to train: leave out --dim, or choose other tensors with --train", b.File, dim)}
	}
	p.Dim, p.Segments, p.Initial, p.InitialDigest = dim, segments, plan.Given, b.Digest
	return nil
}

// matrices gives the segments of a plan with distribution=lowrank the rows that the flags know: of
// layers, and of the tensors of a file. Rows that the author set stay.
func (f *planFlags) matrices(p *plan.Plan) error {
	if f.layers != "" {
		return planfile.SetLayers(p, f.layers)
	}
	if f.begins == nil {
		return nil
	}
	if one := f.begins.Tensors; len(p.Segments) == 0 && len(one) == 1 { // it has no name
		p.Segments = []plan.Segment{{Name: "all", Len: one[0].Len}}
		one[0].Segment = "all"
	}
	rows := map[string]uint64{}
	for _, t := range f.begins.Tensors {
		rows[t.Segment] = t.rows()
	}
	for i := range p.Segments {
		s := &p.Segments[i]
		s.Rows = cmp.Or(s.Rows, rows[s.Name])
	}
	return f.begins.someMatrix(p)
}

// someMatrix refuses a plan of directions of rank 1 in which no tensor of the file is a matrix.
func (b *beginning) someMatrix(p *plan.Plan) error {
	if slices.ContainsFunc(p.Segments, func(s plan.Segment) bool { return s.Rows > 0 }) {
		return nil
	}
	why := fmt.Sprintf("no tensor of %s is a matrix of %d rows and columns together, as directions "+
		"of rank 1 need", b.File, planfile.LeastFactors)
	if n := len(b.Tensors); n > plan.MaxSegments {
		why = fmt.Sprintf("a plan has up to %d matrices, and %s has %d tensors to train: choose some "+
			"with --train", plan.MaxSegments, b.File, n)
	}
	return &plan.Error{Field: "distribution", Value: p.Distribution,
		Remedy: why + "; or take distribution=rademacher"}
}

// rows returns the rows of a tensor as a matrix: the first axis against all others.
func (t *startTensor) rows() uint64 {
	if len(t.Shape) < 2 || t.Len == 0 {
		return 0
	}
	return planfile.Rows(t.Shape[0], t.Len/t.Shape[0])
}

// mostNames bounds how many names of a kind tellNames prints.
const mostNames = 12

// tellNames prints the names of tensors that are not parameters, and why they are not.
func tellNames(out io.Writer, why string, names []string) {
	if more := len(names) - mostNames; more > 0 {
		names = append(slices.Clone(names[:mostNames]), fmt.Sprintf("and %d more", more))
	}
	if len(names) > 0 {
		fmt.Fprintf(out, "%s: %s.\n", why, strings.Join(names, ", "))
	}
}

// short says which tensors of the file are parameters, and what a device needs.
func (b *beginning) short(to *brief) {
	if b == nil {
		return
	}
	if len(b.Tensors) > 0 {
		var names []string
		for _, line := range b.Tensors {
			names = append(names, fmt.Sprint(cmp.Or(line.Name, "-"), " ", line.Shape))
		}
		to.line("tensors", fmt.Sprintf("%s; %d more stay as they are", cut(strings.Join(names, ", "), 54),
			b.untouched))
		if n := len(b.Passed); n > 0 {
			to.line("passes", fmt.Sprintf("over %s of integers: %s", terminal.Count(n, "tensor"),
				strings.Join(b.Passed, ", ")))
		}
		to.line("sha-256", b.SHA256)
	}
	fmt.Fprintf(to.out, "%-8s every device %s\n", "give", b.flags()) // never cut: to be typed
}

// flags returns the flags with which a device begins at the file.
func (b *beginning) flags() string {
	flags := "--initial " + b.File
	if len(b.Train) > 0 {
		flags += " --train '" + strings.Join(b.Train, ",") + "'"
	}
	return flags
}

// explain says which parameters the run begins with, and what a device needs.
func (b *beginning) explain(out io.Writer) {
	fmt.Fprintf(out, "\nThe run begins with %s, digest %v.\n", b.File, b.Digest)
	if len(b.Tensors) > 0 {
		fmt.Fprintf(out, "Its parameters are these tensors, one after the other; %d more stay as they "+
			"are.\n", b.untouched)
		t := cli.NewTable(out)
		t.AppendHeader(table.Row{"tensor", "segment", "shape", "parameters"})
		for _, line := range b.Tensors {
			t.AppendRow(table.Row{cmp.Or(line.Name, "-"), cmp.Or(line.Segment, "-"),
				fmt.Sprint(line.Shape), line.Len})
		}
		t.Render()
		tellNames(out, "Passed over, as tensors of integers", b.Passed)
		tellNames(out, "Not among them, as constants in nodes", b.Within)
		fmt.Fprintf(out, "SHA-256 of the whole file: %s\n", b.SHA256)
	}
	fmt.Fprintf(out, "Give every device the file: %s\n", b.flags())
}
