package main

// Gains are the gains of a PID controller with two degrees of freedom.
type Gains struct {
	Kp     float64 // 1/K, power per error
	Ti     float64 // s, integral time
	Td     float64 // s, derivative time
	Tf     float64 // s, filter of the derivative
	Weight float64 // weight of the set point in the proportional part
	Ahead  float64 // 1/K, power per set point, applied before there is any error
	Tt     float64 // s, time in which the integral follows a heater at its limit
}

// A controller holds the state from one reading to the next.
type controller struct {
	gains    Gains
	integral float64
	slope    float64 // K/s, of the readings, filtered
	last     float64 // reading
	begun    bool
}

// power returns the heater's power for a set point and a reading, both in K:
//
//	v = Kp (Weight r - y) + I - Kp Td s + Ahead r
//	u = v between 0 and 1
//	I += Period (Kp/Ti (r - y) + (u - v)/Tt)
//
// with s the slope of the readings after a filter with the time constant Tf.
func (c *controller) power(r, y float64) float64 {
	g := &c.gains
	if c.begun {
		c.slope += ((y-c.last)/Period - c.slope) * Period / (g.Tf + Period)
	}
	c.last, c.begun = y, true
	v := g.Kp*(g.Weight*r-y) + c.integral - g.Kp*g.Td*c.slope + g.Ahead*r
	u := min(max(v, 0), 1)
	c.integral += Period * (g.Kp/g.Ti*(r-y) + (u-v)/g.Tt)
	return u
}

// SIMC returns the gains of Skogestad's rules (2003) for a plate, with a closed loop as fast as
// its dead time. The rules ignore the set point weight, the feedforward and the limits of the
// heater.
func SIMC(p Plate) Gains {
	kp := p.Lag / (p.Gain * 2 * p.Dead)
	ti, td := min(p.Lag, 8*p.Dead), p.Sensor
	both := 1 + td/ti // converts a controller in series to one in parallel
	return Gains{Kp: kp * both, Ti: ti * both, Td: td / both, Tf: td / 10, Weight: 1, Tt: ti}
}
