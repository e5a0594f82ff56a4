package main

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/plan"
)

// A knob is a parameter that the fleet tunes: a segment of the plan with its box.
type knob struct {
	name string
	of   func(*Gains) *float64
	log  bool    // the parameter is the gain's logarithm to base 2
	low  float64 // of the gain; with log, as a multiple of SIMC's gain
	high float64
}

// Knobs are the parameters in their order. The boxes are the range that is safe to try on a plate:
// up to 4 times SIMC's value, for the gains that SIMC sets.
var knobs = []knob{
	{"kp", func(g *Gains) *float64 { return &g.Kp }, true, 0.25, 4},
	{"ti", func(g *Gains) *float64 { return &g.Ti }, true, 0.25, 4},
	{"td", func(g *Gains) *float64 { return &g.Td }, true, 0.25, 4},
	{"tf", func(g *Gains) *float64 { return &g.Tf }, true, 0.25, 16},
	{"weight", func(g *Gains) *float64 { return &g.Weight }, false, 0, 1},
	{"ahead", func(g *Gains) *float64 { return &g.Ahead }, false, 0, 2 / Nominal.Gain},
	{"tt", func(g *Gains) *float64 { return &g.Tt }, true, 0.25, 4},
}

// Vector returns the parameters for gains.
func Vector(g Gains) []float32 {
	x := make([]float32, len(knobs))
	for i, k := range knobs {
		v := *k.of(&g)
		if k.log {
			v = math.Log2(v)
		}
		x[i] = float32(v)
	}
	return x
}

// GainsOf returns the gains for parameters. GainsOf returns an error if a gain is outside its
// box, so that a device never tries gains for which it was not built.
func GainsOf(x []float32) (g Gains, err error) {
	for i, box := range Boxes() {
		if !(x[i] >= box.Low && x[i] <= box.High) {
			return g, fmt.Errorf("%s is %v, outside its box %v to %v: set the plan's boxes",
				knobs[i].name, x[i], box.Low, box.High)
		}
		v := float64(x[i])
		if knobs[i].log {
			v = math.Exp2(v)
		}
		*knobs[i].of(&g) = v
	}
	return g, nil
}

// Boxes returns the range of each parameter.
func Boxes() []plan.Box {
	g := SIMC(Nominal)
	boxes := make([]plan.Box, len(knobs))
	for i, k := range knobs {
		low, high := k.low, k.high
		if k.log {
			v := *k.of(&g)
			low, high = math.Log2(k.low*v), math.Log2(k.high*v)
		}
		boxes[i] = plan.Box{Low: float32(low), High: float32(high)}
	}
	return boxes
}

// segments names each parameter in the plan.
func segments() []plan.Segment {
	list := make([]plan.Segment, len(knobs))
	for i, k := range knobs {
		list[i] = plan.Segment{Name: k.name, Len: 1}
	}
	return list
}
