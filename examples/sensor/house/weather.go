package house

import (
	"math"
	"math/rand/v2"
)

const (
	minutesPerDay = 24 * 60
	latitudeSun   = 0.6 // part of a full sun at noon, in early spring
)

// Weather is the same for all rooms, minute by minute.
type Weather struct {
	Outside []float64 // degrees C
	Sun     []float64 // part of a full sun
}

// NewWeather draws days of early spring: a daily wave, plus fronts that pass within days,
// under clouds that pass within hours.
func NewWeather(days int, random *rand.Rand) Weather {
	n := days * minutesPerDay
	w := Weather{make([]float64, n), make([]float64, n)}
	front, cloud := drift{sigma: 3, minutes: 2 * minutesPerDay}, drift{sigma: 1, minutes: 180}
	front.start(random)
	cloud.start(random)
	for i := range n {
		hour := float64(i%minutesPerDay) / 60
		clear := 1 / (1 + math.Exp(-1.5*cloud.next(random)))
		w.Sun[i] = latitudeSun * clear * max(0, math.Sin(math.Pi*(hour-6.5)/12))
		w.Outside[i] = 6 + front.next(random) + 4*math.Sin(2*math.Pi*(hour-9)/24)
	}
	return w
}

// A drift is noise with a memory: sigma is its standard deviation, minutes its time
// constant.
type drift struct {
	sigma, minutes, value float64
}

func (d *drift) start(random *rand.Rand) { d.value = d.sigma * random.NormFloat64() }

func (d *drift) next(random *rand.Rand) float64 {
	keep := math.Exp(-1 / d.minutes)
	d.value = keep*d.value + d.sigma*math.Sqrt(1-keep*keep)*random.NormFloat64()
	return d.value
}
