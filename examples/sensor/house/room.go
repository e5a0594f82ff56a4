// Package house simulates the rooms of a house: what a thermometer in each room reads, and when a
// window was open. The package provides data for trying an agent. A seed always gives the same
// data.
package house

import (
	"math"
	"math/rand/v2"
	"time"
)

// Every is the number of minutes between the readings that Trace.Read makes.
const Every = 5

// Began is the time of minute 0, a Monday.
var Began = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// A Room has two heat capacities, air and walls, between a radiator and the weather. Powers
// are in W, capacities in J/K, resistances in K/W.
type Room struct {
	Air, Walls      float64 // heat capacities
	Inner, Outer    float64 // resistances: air to walls, walls to outside
	Leak, Open      float64 // resistances, air to outside: window closed, open
	Glass           float64 // W in full sun
	Radiator        float64 // W
	RadiatorMinutes float64 // time constant of the radiator
	Day, Night      float64 // degrees C that the valve aims at
	Wake, Sleep     int     // hours, on working days
	Habit           float64 // number of people, when they are in
	Noise           float64 // of the thermometer, standard deviation in degrees C
}

// NewRoom draws a room. All rooms are similar; no two are the same.
func NewRoom(random *rand.Rand) Room {
	about := func(v, part float64) float64 { return v * (1 + part*(2*random.Float64()-1)) }
	return Room{
		Air: about(5e5, 0.3), Walls: about(4e6, 0.3),
		Inner: about(0.008, 0.25), Outer: about(0.02, 0.25),
		Leak: about(0.05, 0.3), Open: about(0.006, 0.3),
		Glass: about(900, 0.6), Radiator: about(1400, 0.2), RadiatorMinutes: about(12, 0.3),
		Day: about(21, 0.04), Night: about(17.5, 0.04),
		Wake: 5 + random.IntN(3), Sleep: 20 + random.IntN(4),
		Habit: 1 + random.Float64()*1.5, Noise: about(0.04, 0.3),
	}
}

// A Trace is the history of a room, minute by minute.
type Trace struct {
	Air    []float64 // degrees C
	Opened [][2]int  // from and to which minute the window was open
}

// A Reading is the value of a thermometer at a minute, in degrees C.
type Reading struct {
	Minute int
	Value  float64
}

// Read reads a trace with a thermometer that has noise and a resolution of 0.01 degrees.
func (t Trace) Read(noise float64, random *rand.Rand) []Reading {
	var list []Reading
	for i := 0; i < len(t.Air); i += Every {
		v := t.Air[i] + noise*random.NormFloat64()
		list = append(list, Reading{i, math.Round(100*v) / 100})
	}
	return list
}

// Time returns the time of a minute.
func Time(minute int) time.Time { return Began.Add(time.Duration(minute) * time.Minute) }

// state is the state of a room during the simulation.
type state struct {
	air, walls, radiator float64
	people               float64
	open                 int // minutes for which the window stays open
	wake, sleep          int // minutes of the current day
}

// Live simulates a room in the given weather.
func (r Room) Live(w Weather, random *rand.Rand) Trace {
	s := state{air: r.Night + 1, walls: r.Night}
	t := Trace{Air: make([]float64, len(w.Outside))}
	for i := range t.Air {
		if s.open == 0 && r.opens(i, random) {
			s.open = 10 + random.IntN(30)
			t.Opened = append(t.Opened, [2]int{i, i + s.open})
		}
		r.minute(&s, i, w, random)
		t.Air[i] = s.air
	}
	return t
}

// opens decides whether a person opens the window: once in two days on average, by day.
func (r Room) opens(i int, random *rand.Rand) bool {
	hour := i / 60 % 24
	const chance = 1 / (2.0 * 15 * 60) // per minute
	return random.Float64() < chance && hour >= 7 && hour < 22 && i > minutesPerDay
}

// programme sets the day's heating times: later at weekends.
func (r Room) programme(s *state, i int) {
	late := 0
	if i/minutesPerDay%7 >= 5 { // minute 0 is a Monday's
		late = 90
	}
	s.wake, s.sleep = r.Wake*60+late, r.Sleep*60+late/2
}

// minute advances a room by Euler steps, which are short compared with its time constants.
func (r Room) minute(s *state, i int, w Weather, random *rand.Rand) {
	if i%minutesPerDay == 0 {
		r.programme(s, i)
	}
	hour := i / 60 % 24
	if i%30 == 0 { // people come and go
		s.people = 0
		if in := hour < 8 || hour >= 17; in == (random.Float64() < 0.85) {
			s.people = math.Round(r.Habit)
		}
	}
	s.radiator += (r.Radiator*r.valve(s, i%minutesPerDay) - s.radiator) / r.RadiatorMinutes
	leak := 1 / r.Leak
	if s.open > 0 {
		leak += 1 / r.Open
		s.open--
	}
	toWalls := (s.air - s.walls) / r.Inner
	s.air += 60 / r.Air * (s.radiator + 90*s.people +
		0.4*r.Glass*w.Sun[i] - toWalls - leak*(s.air-w.Outside[i]))
	s.walls += 60 / r.Walls * (toWalls + 0.6*r.Glass*w.Sun[i] - (s.walls-w.Outside[i])/r.Outer)
}

// valve returns how far the radiator's valve is open: fully if the air is half a degree
// below the target, shut if it is half a degree above.
func (r Room) valve(s *state, minute int) float64 {
	want := r.Night
	if minute >= s.wake && minute < s.sleep {
		want = r.Day
	}
	return min(max(want+0.5-s.air, 0), 1)
}
