package lossprogram

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zofl/zofl/plan"
)

// HasColumns says whether the program describes the columns of its data.
func (p *Program) HasColumns() bool { return p.hello.columns > 0 }

// Columns asks the program for the statistics of a device's data.
func (p *Program) Columns(ctx context.Context, id string) (columns []plan.Column, err error) {
	err = p.inTurn(ctx, func(t *talk) error {
		words, err := t.ask(ctx, "columns device="+id, "columns")
		if err != nil {
			return err
		}
		columns, err = columnsOf(words, p.hello.columns)
		return err
	})
	return columns, err
}

// columnsOf reads the words of an answer: count, missing, mean, std, min and max of each column.
func columnsOf(words []string, want int) ([]plan.Column, error) {
	const each = 6
	if len(words) != each*want {
		return nil, fmt.Errorf("the program answered %d numbers after columns: give %d for each of %d "+
			"columns: count, missing, mean, std, min and max", len(words), each, want)
	}
	columns := make([]plan.Column, want)
	for i := range columns {
		var v [each]float64
		for k, word := range words[each*i : each*(i+1)] {
			number, err := strconv.ParseFloat(word, 64)
			if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
				return nil, fmt.Errorf("the program answered %s for column %d: give a finite number",
					clip(word), i)
			}
			v[k] = number
		}
		c := &columns[i]
		if v[0] < 0 || v[1] < 0 || v[0] != math.Trunc(v[0]) || v[1] != math.Trunc(v[1]) ||
			max(v[0], v[1]) > plan.MaxRows {
			return nil, fmt.Errorf("the program answered %v values and %v missing ones for column %d: "+
				"give whole numbers, 0 or more", v[0], v[1], i)
		}
		c.Count, c.Missing, c.Mean, c.Std = uint64(v[0]), uint64(v[1]), v[2], v[3]
		if c.Count > 0 {
			c.Min, c.Max = &v[4], &v[5]
		}
	}
	return columns, nil
}

// Scale tells the program the statistics of a plan before the next request. It never fails: it is a
// [client.Config].Accept.
func (p *Program) Scale(at *plan.Plan) error {
	var b strings.Builder
	b.WriteString("scale")
	for _, c := range at.Stats {
		fmt.Fprintf(&b, " %s %s", strconv.FormatFloat(c.Mean, 'g', -1, 64),
			strconv.FormatFloat(c.Std, 'g', -1, 64))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(at.Stats) > 0 && b.String() != p.scale {
		p.scale, p.scaled = b.String(), false
	}
	return nil
}

// tellScale tells the program of a talk the scale, if the program does not know it.
func (p *Program) tellScale(ctx context.Context, t *talk) error {
	p.mu.Lock()
	request, knows := p.scale, p.scaled || p.scale == "" || p.current != t
	p.mu.Unlock()
	if knows {
		return nil
	}
	if _, err := t.ask(ctx, request, "ok"); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scaled = p.current == t && p.scale == request
	return nil
}

// TellScale tells the program the scale, if there is one that it does not know: a device whose run
// has ended may have evaluated nothing since it found one. A program that ended is told nothing.
func (p *Program) TellScale(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Patience)
	defer cancel()
	_ = p.inTurn(ctx, func(t *talk) error { return p.tellScale(ctx, t) })
}
