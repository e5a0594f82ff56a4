package main

import (
	"math"
	"math/rand/v2"
)

// A Plate is a hot plate: a heater under a metal block with a sensor in it. Temperatures
// are in K above the room's.
//
//	Lag    dT/dt = Gain u(t - Dead) - load - T    the block
//	Sensor dy/dt = T - y                          what its sensor feels
type Plate struct {
	Gain   float64 // K reached at full power
	Lag    float64 // s
	Dead   float64 // s until the block feels the heater
	Sensor float64 // s
	Noise  float64 // K, standard deviation of a reading
}

// Nominal is the plate of the data sheet.
var Nominal = Plate{Gain: 300, Lag: 90, Dead: 10, Sensor: 8, Noise: 0.1}

// Plates returns n plates as manufactured and mounted. The plates differ by about 20 % in mains
// voltage and contact, in mass, and in where the sensor sits.
func Plates(n int, seed uint64) []Plate {
	random := rand.New(rand.NewPCG(seed, 1))
	vary := func(v float64) float64 { return v * math.Exp(0.2*random.NormFloat64()) }
	plates := make([]Plate, n)
	for i := range plates {
		plates[i] = Plate{vary(Nominal.Gain), vary(Nominal.Lag), vary(Nominal.Dead),
			vary(Nominal.Sensor), Nominal.Noise}
	}
	return plates
}

// An experiment heats a cold plate to SetPoint. Halfway through it puts a cold pot on the
// plate, which draws as much heat as Pot K.
const (
	SetPoint = 60.0  // K
	Pot      = 30.0  // K
	Duration = 600.0 // s
	Period   = 0.5   // s between readings
)

// A Trace is the record of an experiment, with a value for each reading.
type Trace struct {
	Read  []float64 // K
	Power []float64 // 0 to 1
}

// Run makes an experiment with a controller of gains g. random draws the noise of the
// readings; with nil there is none, which only a simulation can do.
func (p Plate) Run(g Gains, random *rand.Rand) Trace {
	steps := int(Duration / Period)
	t := Trace{make([]float64, steps), make([]float64, steps)}
	late := int(math.Round(p.Dead / Period))
	toBlock, toSensor := -math.Expm1(-Period/p.Lag), -math.Expm1(-Period/p.Sensor)
	c := controller{gains: g}
	block, felt := 0.0, 0.0
	for i := range steps {
		t.Read[i] = felt
		if random != nil {
			t.Read[i] += p.Noise * random.NormFloat64()
		}
		t.Power[i] = c.power(SetPoint, t.Read[i])
		heat, load := 0.0, 0.0
		if i >= late {
			heat = t.Power[i-late]
		}
		if 2*i >= steps {
			load = Pot
		}
		felt += toSensor * (block - felt)
		block += toBlock * (p.Gain*heat - load - block)
	}
	return t
}
